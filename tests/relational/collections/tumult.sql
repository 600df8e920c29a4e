--- Questions of the tutorials, guides and tests of Tumult Analytics, asked there with data frames and here with SQL.

-- members
SELECT COUNT(*) AS n FROM people

-- members over thirty
SELECT COUNT(*) AS n FROM people WHERE age > 30

-- members of two groups
SELECT COUNT(*) AS n FROM people WHERE region IN ('north', 'south')

-- members not of a group
SELECT COUNT(*) AS n FROM people WHERE region NOT IN ('north')

-- share of members by two counts
SELECT COUNT_IF(married) / COUNT(*) AS share FROM people

-- sum of clamped values
SELECT SUM(LEAST(GREATEST(income, 0), 5000)) AS s FROM people

-- sum with a narrow clamp
SELECT SUM(LEAST(GREATEST(age, 30), 40)) AS s FROM people

-- mean with a clamp
SELECT AVG(LEAST(GREATEST(age, 0), 120)) AS a FROM people

-- mean by group
SELECT region, AVG(age) AS a FROM people GROUP BY region

-- variance by group
SELECT region, VARIANCE(age) AS v FROM people GROUP BY region

-- deviation by group
SELECT region, STDDEV(age) AS v FROM people GROUP BY region

-- least and largest
-- within: 1
SELECT MIN(age) AS a, MAX(age) AS b FROM people

-- median
-- within: 1
SELECT MEDIAN(age) AS a FROM people

-- a quantile
-- plain: SELECT quantile_cont(age, 0.6) AS q FROM people
-- within: 1
SELECT QUANTILE(age, 0.6) AS q FROM people

-- quantile by group
-- plain: SELECT region, quantile_cont(age, 0.25) AS q FROM people GROUP BY region
-- within: 1
SELECT region, QUANTILE_CONT(age, 0.25) AS q FROM people GROUP BY region

-- a list of quantiles
-- plain: SELECT [27.5, 37.5, 47.5] AS q
-- within: 1
SELECT QUANTILE_CONT(age, [0.25, 0.5, 0.75]) AS q FROM people

-- least and largest by group
-- within: 2
SELECT region, MIN(age) AS a, MAX(age) AS b FROM people GROUP BY region

-- median by group after a filter
-- within: 2
SELECT region, MEDIAN(age) AS m FROM people WHERE schooling > 2 GROUP BY region

-- mean by group after a filter
SELECT region, AVG(income) AS m FROM people WHERE schooling > 2 GROUP BY region

-- number by group after a filter
SELECT region, COUNT(*) AS n FROM people WHERE schooling > 2 GROUP BY region

-- groups of two columns
SELECT region, sex, COUNT(*) AS n FROM people GROUP BY region, sex

-- groups of young ages only
SELECT age, COUNT(*) AS n FROM people WHERE age BETWEEN 18 AND 21 GROUP BY age

-- groups of young ages only, with a condition afterwards
SELECT age, COUNT(*) AS n FROM people GROUP BY age HAVING age <= 21

-- groups of two columns, some of each
SELECT age, region, COUNT(*) AS n FROM people WHERE age IN (18, 19) AND region IN ('north', 'east') GROUP BY age, region

-- groups of pairs that were listed
-- empty groups
SELECT v.age, v.region, COUNT(*) AS n FROM people p JOIN (VALUES (18, 'north'), (19, 'east')) AS v(age, region) ON p.age = v.age AND p.region = v.region GROUP BY v.age, v.region

-- groups that nobody listed
-- spend: delta
SELECT town FROM people GROUP BY town

-- number in groups that nobody listed
-- spend: delta
SELECT town, COUNT(*) AS n FROM people GROUP BY town

-- sum in groups that nobody listed
-- spend: delta
SELECT town, SUM(age) AS s FROM people GROUP BY town

-- groups that nobody listed and listed ones
-- spend: delta
-- empty groups
SELECT town, sex, COUNT(*) AS n FROM people GROUP BY town, sex

-- different values
SELECT COUNT(DISTINCT age) AS n FROM people

-- different values by group
SELECT region, COUNT(DISTINCT age) AS n FROM people GROUP BY region

-- different pairs
SELECT COUNT(*) AS n FROM (SELECT DISTINCT sex, schooling FROM people)

-- different pairs, COUNT DISTINCT of two columns
-- plain: SELECT COUNT(*) AS n FROM (SELECT DISTINCT sex, schooling FROM people)
SELECT COUNT(DISTINCT (sex, schooling)) AS n FROM people

-- different people by group
SELECT ward, COUNT(DISTINCT pid) AS n FROM visits GROUP BY ward

-- age when joining
-- empty groups
SELECT age - (2024 - year(joined)) AS k, COUNT(*) AS n FROM people GROUP BY k

-- age when joining, mean
SELECT AVG(age - (2024 - year(joined))) AS m FROM people

-- bins of ages
-- plain: SELECT 18 + 10 * ((age - 18) // 10) AS k, COUNT(*) AS n FROM people GROUP BY k
SELECT bin(age, 18, 58, 4) AS k, COUNT(*) AS n FROM people GROUP BY k

-- bins of ages by floor
SELECT floor(age / 10) * 10 AS k, COUNT(*) AS n FROM people GROUP BY k

-- bins of ages with labels
SELECT CASE WHEN age < 20 THEN '0-19' WHEN age < 40 THEN '20-39' ELSE '40+' END AS k, COUNT(*) AS n FROM people GROUP BY k

-- bins of ages and a group
SELECT floor(age / 20) * 20 AS k, sex, COUNT(*) AS n FROM people GROUP BY k, sex

-- histogram of a real column
-- empty groups
SELECT floor(income / 1000) AS k, COUNT(*) AS n FROM people WHERE income IS NOT NULL GROUP BY k

-- public join on a key
SELECT country, COUNT(*) AS n FROM people JOIN regions USING (region) GROUP BY country

-- public join with a filter on its column
SELECT COUNT(*) AS n FROM people JOIN regions USING (region) WHERE population > 1500

-- public left join
SELECT COUNT(*) AS n, COUNT(title) AS m FROM visits LEFT JOIN holidays USING (day)

-- public join by two names
-- empty groups
SELECT w.site, SUM(v.minutes) AS s FROM visits AS v JOIN wards AS w ON v.ward = w.ward GROUP BY w.site

-- public join, numbers of both
SELECT SUM(minutes / beds) AS s FROM visits JOIN wards USING (ward)

-- public join that multiplies
SELECT COUNT(*) AS n FROM visits JOIN wards ON visits.minutes > wards.beds

-- rows per person limited to twenty
SELECT ward, COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY visit_id) AS k FROM visits) WHERE k <= 20 GROUP BY ward

-- one row of each person and group
SELECT ward, COUNT(*) AS n FROM (SELECT DISTINCT pid, ward FROM visits) GROUP BY ward

-- private join on the person
SELECT sex, ward, COUNT(*) AS n FROM visits JOIN people USING (pid) GROUP BY sex, ward

-- private join on the person, renamed
SELECT sex, COUNT(*) AS n FROM (SELECT pid AS member, ward FROM visits) v JOIN people ON v.member = people.pid GROUP BY sex

-- private join on the person, bins of ages
-- empty groups
SELECT floor(p.age / 10) * 10 AS k, v.ward, COUNT(*) AS n FROM visits v JOIN people p ON v.pid = p.pid GROUP BY k, v.ward

-- private join, sum of a product
SELECT SUM(v.minutes * p.schooling) AS s FROM visits v JOIN people p ON v.pid = p.pid

-- private join, then a public one
-- empty groups
SELECT site, sex, COUNT(*) AS n FROM visits JOIN people USING (pid) JOIN wards USING (ward) GROUP BY site, sex

-- several genres of a member, one row each
SELECT g, COUNT(*) AS n FROM (SELECT pid, 'urgent' AS g FROM visits WHERE urgent UNION ALL SELECT pid, 'long' AS g FROM visits WHERE minutes > 60) GROUP BY g

-- several columns of a row, one row each
SELECT k, AVG(v) AS m FROM (SELECT pid, 'score' AS k, score AS v FROM people UNION ALL SELECT pid, 'schooling' AS k, schooling AS v FROM people) GROUP BY k

-- nulls replaced
SELECT AVG(COALESCE(income, 0)) AS a FROM people

-- nulls replaced in a key
SELECT COALESCE(kind, 'none') AS k, COUNT(*) AS n FROM visits GROUP BY k

-- nulls dropped
SELECT AVG(income) AS a FROM people WHERE income IS NOT NULL

-- nulls as a group
SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind

-- nulls counted
SELECT COUNT(*) - COUNT(income) AS n FROM people

-- rows with a null dropped in two columns
SELECT COUNT(*) AS n FROM people WHERE income IS NOT NULL AND score IS NOT NULL

-- infinite values replaced
SELECT SUM(CASE WHEN income > 1e300 THEN 0 ELSE income END) AS s FROM people

-- a new column from two others
SELECT SUM(q) AS s FROM (SELECT quantity * price AS q FROM orders)

-- a new column that is a choice
SELECT SUM(q) AS s FROM (SELECT CASE WHEN paid THEN quantity ELSE 0 END AS q FROM orders)

-- a new text column as key
SELECT k, COUNT(*) AS n FROM (SELECT CASE WHEN price > 30 THEN 'dear' ELSE 'cheap' END AS k FROM orders) GROUP BY k

-- columns selected and renamed
SELECT COUNT(a) AS n FROM (SELECT age AS a, sex AS b FROM people)

-- a view, then a question
WITH young AS (SELECT * FROM people WHERE age < 30) SELECT region, COUNT(*) AS n FROM young GROUP BY region

-- a view of a public join
WITH v AS (SELECT * FROM visits JOIN wards USING (ward)) SELECT COUNT(*) AS n FROM v

-- year and month of joining
SELECT year(joined) AS y, month(joined) AS m, COUNT(*) AS n FROM people GROUP BY y, m

-- members since a day
SELECT COUNT(*) AS n FROM people WHERE joined >= DATE '2022-06-01'

-- days between
SELECT AVG(date_diff('day', joined, DATE '2024-01-01')) AS d FROM people

-- by day of the week
SELECT dayofweek(day) AS d, COUNT(*) AS n FROM visits GROUP BY d

-- by name of the day
SELECT dayname(day) AS d, COUNT(*) AS n FROM visits GROUP BY d

-- by year and month as text
SELECT strftime(day, '%Y-%m') AS m, COUNT(*) AS n FROM visits GROUP BY m

-- text parsed as a date in a condition
SELECT COUNT(*) AS n FROM visits WHERE day > CAST('2024-06-30' AS DATE)

-- first part of a text
SELECT split_part(region, 'o', 1) AS k, COUNT(*) AS n FROM people GROUP BY k

-- hour of a moment
-- gap: key_not_declared | Keys that are few but not listed
SELECT hour(at) AS h, COUNT(*) AS n FROM visits GROUP BY h

-- share of each group afterwards
SELECT region, n, n / SUM(n) OVER () AS share FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region)

-- share of each group in one question
SELECT region, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM people GROUP BY region

-- totals beside groups afterwards
SELECT sex, SUM(n) AS n FROM (SELECT sex, region, COUNT(*) AS n FROM people GROUP BY sex, region) GROUP BY sex

-- share within a group afterwards
SELECT region, sex, n / SUM(n) OVER (PARTITION BY region) AS share FROM (SELECT region, sex, COUNT(*) AS n FROM people GROUP BY region, sex)

-- rank of groups afterwards
SELECT region, RANK() OVER (ORDER BY m DESC) AS r FROM (SELECT region, AVG(income) AS m FROM people GROUP BY region)

-- change from month to month
SELECT m, n - LAG(n) OVER (ORDER BY m) AS change FROM (SELECT month(day) AS m, COUNT(*) AS n FROM visits GROUP BY m) ORDER BY m

-- running total
SELECT month(day) AS m, SUM(COUNT(*)) OVER (ORDER BY month(day)) AS total FROM visits GROUP BY m ORDER BY m

-- rate per head of a public population
-- empty groups
SELECT region, COUNT(*) / population AS rate FROM people JOIN regions USING (region) GROUP BY region, population

-- largest group
-- ties
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 1

-- people with more than two visits
SELECT COUNT(*) AS n FROM (SELECT pid FROM visits GROUP BY pid HAVING COUNT(*) > 2)

-- visits of a person, how often
-- empty groups
SELECT k, COUNT(*) AS people FROM (SELECT pid, COUNT(*) AS k FROM visits GROUP BY pid) GROUP BY k

-- mean of visits of a person
SELECT AVG(k) AS m FROM (SELECT pid, COUNT(*) AS k FROM visits GROUP BY pid)

-- median of visits of a person
-- within: 1
SELECT MEDIAN(k) AS m FROM (SELECT pid, COUNT(*) AS k FROM visits GROUP BY pid)

-- largest bill of each person, on average
SELECT AVG(c) AS m FROM (SELECT pid, MAX(cost) AS c FROM visits GROUP BY pid)

-- spread of each person's bills
SELECT AVG(c) AS m FROM (SELECT pid, STDDEV(minutes) AS c FROM visits GROUP BY pid)

-- median of each person's bills
SELECT AVG(c) AS m FROM (SELECT pid, MEDIAN(minutes) AS c FROM visits GROUP BY pid)

-- the ward each person is in most often
-- plain: SELECT 480 AS n
SELECT SUM(n) AS n FROM (SELECT w, COUNT(*) AS n FROM (SELECT pid, MODE(ward) AS w FROM visits GROUP BY pid) GROUP BY w)

-- whether a person was ever urgent
SELECT u, COUNT(*) AS n FROM (SELECT pid, BOOL_OR(urgent) AS u FROM visits GROUP BY pid) GROUP BY u

-- whether all of a person's visits were urgent
SELECT COUNT(*) AS n FROM (SELECT pid, BOOL_AND(urgent) AS u FROM visits GROUP BY pid) WHERE u

-- the ward of each person's dearest visit
SELECT COUNT(*) AS n FROM (SELECT pid, ARG_MAX(ward, visit_id) AS w FROM visits GROUP BY pid) WHERE w = 'A'

-- first visit of each person by month
SELECT month(d) AS m, COUNT(*) AS n FROM (SELECT pid, MIN(day) AS d FROM visits GROUP BY pid) GROUP BY m

-- days between first and last visit
SELECT AVG(g) AS m FROM (SELECT pid, date_diff('day', MIN(day), MAX(day)) AS g FROM visits GROUP BY pid)

-- days since the last visit, for each visit
SELECT AVG(g) AS m FROM (SELECT pid, day - LAG(day) OVER (PARTITION BY pid ORDER BY day) AS g FROM visits)

-- visits numbered for each person
SELECT k, COUNT(*) AS n FROM (SELECT pid, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day, visit_id) AS k FROM visits) WHERE k <= 4 GROUP BY k

-- features of two tables together
SELECT SUM(a.k * b.q) AS s FROM (SELECT pid, COUNT(*) AS k FROM visits GROUP BY pid) a JOIN (SELECT pid, SUM(quantity) AS q FROM orders GROUP BY pid) b ON a.pid = b.pid

-- features with people's attributes
SELECT p.region, AVG(f.k) AS m FROM people p JOIN (SELECT pid, COUNT(*) AS k FROM visits GROUP BY pid) f ON p.pid = f.pid GROUP BY p.region

-- features where there are none
SELECT p.region, SUM(COALESCE(f.k, 0)) AS s FROM people p LEFT JOIN (SELECT pid, COUNT(*) AS k FROM orders GROUP BY pid) f ON p.pid = f.pid GROUP BY p.region

-- people who did not order
SELECT COUNT(*) AS n FROM people p LEFT JOIN (SELECT pid, COUNT(*) AS k FROM orders GROUP BY pid) f ON p.pid = f.pid WHERE f.k IS NULL

-- people who did not order, NOT EXISTS
SELECT COUNT(*) AS n FROM people WHERE NOT EXISTS (SELECT 1 FROM orders WHERE orders.pid = people.pid)

-- number of orders beside each person
SELECT AVG(k) AS m FROM (SELECT pid, (SELECT COUNT(*) FROM orders o WHERE o.pid = people.pid) AS k FROM people)

-- a fixed limit for each person by a feature
SELECT SUM(LEAST(s, 100)) AS s FROM (SELECT pid, SUM(minutes) AS s FROM visits GROUP BY pid)

-- groups of the person's own numbers
SELECT ward, AVG(k) AS m FROM (SELECT pid, ward, COUNT(*) AS k FROM visits GROUP BY pid, ward) GROUP BY ward

-- rows where a person's total is large
SELECT ward, COUNT(*) AS n FROM visits JOIN (SELECT pid, SUM(minutes) AS s FROM visits GROUP BY pid) f USING (pid) WHERE s > 100 GROUP BY ward

-- totals and subtotals
SELECT region, sex, COUNT(*) AS n FROM people GROUP BY ROLLUP (region, sex)

-- every group by two ways
SELECT region, sex, COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((region), (sex), ())

-- groups of everything that is no aggregate
SELECT region, sex, COUNT(*) AS n FROM people GROUP BY ALL

-- a question for each part
SELECT married, AVG(age) AS a FROM people WHERE sex = 'f' GROUP BY married

-- each person's own rows
-- refused: key_is_identifier | a group of one person
SELECT pid, SUM(minutes) AS s FROM visits GROUP BY pid

-- names nobody listed and few share
-- refused: key_not_declared | a name is a person
SELECT name, COUNT(*) AS n FROM people GROUP BY name

-- identifiers as groups
-- refused: key_not_declared | a group of one visit
SELECT visit_id, COUNT(*) AS n FROM visits GROUP BY visit_id

-- groups that nobody listed without a delta
-- refused: keys_need_delta | a key must not be named for one person
SELECT town, COUNT(*) AS n FROM people GROUP BY town

-- a sum without bounds
-- refused: column_not_declared | no bounds
SELECT SUM(visit_id) AS s FROM visits

-- a mean without bounds by group
-- refused: column_not_declared | no bounds
SELECT ward, AVG(visit_id) AS s FROM visits GROUP BY ward

-- a map by a function of one's own
-- refused: unsupported_sql | no code of others runs on private rows
SELECT AVG(my_function(age)) AS a FROM people

-- a map by Python
-- refused: unsupported_sql | no code of others runs on private rows
SELECT AVG(age.apply(lambda x: x + 1)) FROM people

-- a flat map without a bound
-- refused: elements_not_bounded | no bound on what one person becomes
SELECT w, COUNT(*) AS n FROM (SELECT UNNEST(string_split(note, ' ')) AS w FROM people) GROUP BY w

-- a private join on another key
-- refused: private_join | one person's row meets many others
SELECT COUNT(*) AS n FROM visits v JOIN orders o ON v.day = o.day

-- a window over everybody
-- refused: unsupported_sql | looks at other people's rows
SELECT AVG(d) AS m FROM (SELECT minutes - LAG(minutes) OVER (ORDER BY day) AS d FROM visits)

-- the mean of everybody inside
-- refused: unsupported_sql | looks at other people's rows
SELECT AVG(d) AS m FROM (SELECT minutes - AVG(minutes) OVER () AS d FROM visits)

-- the first rows of everybody
-- refused: unsupported_sql | it would choose among private rows
SELECT AVG(minutes) AS m FROM (SELECT minutes FROM visits ORDER BY cost DESC LIMIT 10)

-- a list of everybody's values
-- refused: unsupported_sql | values of people are never released
SELECT LIST(age) AS l FROM people

-- texts of everybody
-- refused: unsupported_sql | values of people are never released
SELECT STRING_AGG(name, ',') AS l FROM people

-- a file as a table
-- refused: unknown_table | only declared tables are read
SELECT COUNT(*) AS n FROM 'people.csv'

-- a file read by a function
-- refused: unsupported_sql | only declared tables are read
SELECT COUNT(*) AS n FROM read_csv('people.csv')

-- the clock
-- refused: unsupported_sql | answers do not depend on the clock
SELECT COUNT(*) AS n FROM people WHERE joined < current_date

-- settings
-- refused: unsupported_sql | only questions are answered
SET threads = 1

-- a file written
-- refused: unsupported_sql | only questions are answered
COPY people TO 'people.csv'

-- another database
-- refused: unsupported_sql | only questions are answered
ATTACH 'other.db' AS other

-- a plan of the engine
-- refused: unsupported_sql | the plan of an engine shows statistics of the rows
EXPLAIN SELECT COUNT(*) FROM people

-- columns of a table
-- refused: unsupported_sql | only questions are answered
DESCRIBE people

-- tables of the database
-- refused: unsupported_sql | only questions are answered
SHOW TABLES

-- a pragma
-- refused: unsupported_sql | only questions are answered
PRAGMA database_list
