--- Questions of OpenDP's guides to its Polars interface, asked there with data frames and here with SQL.

-- rows
SELECT COUNT(*) AS len FROM people

-- rows by sex, of the frame and of a column
SELECT sex, COUNT(*) AS n, COUNT(1) AS m FROM people GROUP BY sex

-- different values of a column
SELECT COUNT(DISTINCT score) AS n FROM people

-- values and nulls
SELECT COUNT(income) AS known, COUNT_IF(income IS NULL) AS missing FROM people

-- values and nulls as two groups
SELECT income IS NULL AS missing, COUNT(*) AS n FROM people GROUP BY missing

-- nulls with a filter
SELECT COUNT(*) FILTER (WHERE income IS NULL) AS missing FROM people

-- sum of a clipped column
SELECT SUM(LEAST(GREATEST(minutes, 0), 60)) AS s FROM visits

-- sum of a column with nulls filled
SELECT SUM(COALESCE(income, 35)) AS s FROM people

-- sum of a cast column with nulls filled
SELECT SUM(COALESCE(CAST(income AS BIGINT), 0)) AS s FROM people

-- sum where a code is excluded
SELECT SUM(minutes) AS s FROM visits WHERE minutes <> 90

-- sum of two columns, separately
SELECT SUM(minutes) AS a, SUM(cost) AS b FROM visits

-- sum with a column to fill another
SELECT SUM(COALESCE(cost, minutes)) AS s FROM visits

-- sum of a filtered column
SELECT SUM(income) FILTER (WHERE age > 50) AS s FROM people

-- sum of a filtered column, not null
SELECT SUM(income) FILTER (WHERE income IS NOT NULL) AS s FROM people

-- mean as sum over length
SELECT SUM(minutes) AS s, COUNT(*) AS n, SUM(minutes) / COUNT(*) AS mean FROM visits

-- mean
SELECT AVG(minutes) AS m FROM visits

-- mean by sex
SELECT sex, AVG(schooling) AS m FROM people GROUP BY sex

-- mean by a public label of sex
SELECT l.label, AVG(p.schooling) AS m FROM people p JOIN (VALUES ('f', 'female'), ('m', 'male'), ('x', 'other')) AS l(sex, label) ON p.sex = l.sex GROUP BY l.label

-- median among candidates
-- within: 1
SELECT MEDIAN(minutes) AS m FROM visits WHERE minutes <> 90

-- three quantiles
-- plain: SELECT quantile_cont(minutes, 0.25) AS a, quantile_cont(minutes, 0.5) AS b, quantile_cont(minutes, 0.75) AS c FROM visits WHERE minutes <> 90
-- within: 1
SELECT QUANTILE(minutes, 0.25) AS a, QUANTILE(minutes, 0.5) AS b, QUANTILE(minutes, 0.75) AS c FROM visits WHERE minutes <> 90

-- a quantile of reals
-- plain: SELECT quantile_cont(cost, 0.9) AS q FROM visits
-- within: 2
SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost) AS q FROM visits

-- quantiles by key
-- plain: SELECT sex, quantile_cont(age, 0.5) AS q FROM people GROUP BY sex
-- within: 1
SELECT sex, QUANTILE(age, 0.5) AS q FROM people GROUP BY sex

-- by age and state
SELECT age, married, COUNT(*) AS n FROM people GROUP BY age, married

-- by age and state, ordered for a plot
SELECT age, married, COUNT(*) AS n FROM people GROUP BY age, married ORDER BY age, married

-- keys from an earlier answer
-- plain: SELECT k.age, COUNT(*) AS n FROM people p JOIN (VALUES (18), (19), (20)) AS k(age) ON p.age = k.age GROUP BY k.age
SELECT k.age, COUNT(*) AS n FROM people p RIGHT JOIN (VALUES (18), (19), (20)) AS k(age) ON p.age = k.age GROUP BY k.age

-- by year and quarter
SELECT year(joined) AS y, quarter(joined) AS q, COUNT(*) AS n FROM people GROUP BY y, q

-- by quarter as a date
SELECT date_trunc('quarter', joined) AS q, COUNT(*) AS n FROM people GROUP BY q ORDER BY q

-- by quarter with a date of a label
SELECT make_date(year(joined), quarter(joined) * 3, 1) AS d, COUNT(*) AS n FROM people GROUP BY d ORDER BY d

-- a date label beside year and quarter
-- gap: type_clash | Dates computed from an answer
SELECT y, q, make_date(y, q * 3, 1) AS d, n FROM (SELECT year(joined) AS y, quarter(joined) AS q, COUNT(*) AS n FROM people GROUP BY y, q)

-- by month and year of a date
SELECT EXTRACT(YEAR FROM day) AS y, EXTRACT(MONTH FROM day) AS m, COUNT(*) AS n FROM visits GROUP BY y, m ORDER BY y, m

-- by a date parsed from text
SELECT year(TRY_CAST(CAST(joined AS VARCHAR) AS DATE)) AS y, COUNT(*) AS n FROM people GROUP BY y

-- by a year as text parsed as a date
SELECT strptime(CAST(year(joined) AS VARCHAR), '%Y') AS y, COUNT(*) AS n FROM people GROUP BY y

-- by week and weekday
SELECT isodow(day) AS d, COUNT(*) AS n FROM visits GROUP BY d

-- by hour of a moment
-- gap: key_not_declared | Keys that are few but not listed
SELECT EXTRACT(HOUR FROM at) AS h, COUNT(*) AS n FROM visits GROUP BY h

-- by day of the year
SELECT dayofyear(day) AS d, COUNT(*) AS n FROM visits GROUP BY d

-- cut at breaks
SELECT CASE WHEN minutes <= 0 THEN 0 WHEN minutes <= 20 THEN 1 WHEN minutes <= 40 THEN 2 WHEN minutes <= 60 THEN 3 WHEN minutes <= 80 THEN 4 ELSE 5 END AS k, COUNT(*) AS n FROM visits GROUP BY k

-- cut at breaks with labels of intervals
SELECT CASE WHEN minutes <= 20 THEN '(-inf, 20]' WHEN minutes <= 40 THEN '(20, 40]' ELSE '(40, inf]' END AS k, COUNT(*) AS n FROM visits GROUP BY k ORDER BY k

-- cut into equal widths
-- plain: SELECT CASE WHEN minutes >= 90 THEN 10 ELSE minutes // 10 + 1 END AS k, COUNT(*) AS n FROM visits GROUP BY k
-- empty groups
SELECT width_bucket(minutes, 0, 90, 9) AS k, COUNT(*) AS n FROM visits GROUP BY k

-- cut into equal widths by whole division
SELECT minutes // 10 AS k, COUNT(*) AS n FROM visits GROUP BY k

-- whether over a limit
SELECT age > 50 AS old, COUNT(*) AS n FROM people GROUP BY old

-- whether over a limit, and sex, after a filter on two columns
SELECT sex, age > 40 AS old, COUNT(*) AS n FROM people WHERE income > 0 AND income <> 99 GROUP BY sex, old ORDER BY sex, old

-- codes replaced
SELECT SUM(CASE WHEN minutes = 90 OR minutes IS NULL THEN 0 ELSE minutes END) AS s FROM visits

-- codes replaced by labels
SELECT CASE kind WHEN 'first' THEN 'came once' WHEN 'repeat' THEN 'came again' ELSE 'not known' END AS k, COUNT(*) AS n FROM visits GROUP BY k

-- codes replaced by a public table
-- empty groups
SELECT site, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY site

-- conditions with and, or, xor
SELECT COUNT(*) AS n FROM people WHERE (age > 40 AND married) OR (age <= 40 AND NOT married)

-- conditions that differ
SELECT COUNT(*) AS n FROM people WHERE married <> (age > 40)

-- arithmetic of columns
SELECT SUM(minutes + 1) AS a, SUM(minutes * 2) AS b, SUM(minutes - 3) AS c, SUM(minutes / 4) AS d, SUM(minutes // 4) AS e, SUM(minutes % 4) AS f FROM visits

-- comparison of columns
SELECT COUNT_IF(score = schooling) AS a, COUNT_IF(score <> schooling) AS b, COUNT_IF(score < schooling) AS c, COUNT_IF(score >= schooling) AS d FROM people

-- a value between
SELECT COUNT_IF(age BETWEEN 20 AND 30) AS n FROM people

-- a value among constants
SELECT COUNT_IF(region IN ('north', 'south')) AS n FROM people

-- a null or a finite number
SELECT COUNT_IF(income IS NOT NULL AND income < 1e300) AS n FROM people

-- rounding
SELECT SUM(ROUND(warmth)) AS a, SUM(ROUND(warmth, 1)) AS b, SUM(FLOOR(warmth)) AS c FROM visits

-- rows per person kept by their number
SELECT COUNT(*) AS n FROM (SELECT ROW_NUMBER() OVER (PARTITION BY pid ORDER BY visit_id) AS k, minutes FROM visits) WHERE k <= 10

-- rows per person and quarter kept
SELECT quarter(day) AS q, COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY pid, quarter(day) ORDER BY visit_id) AS k FROM visits) WHERE k <= 10 GROUP BY q

-- sum of each person's mean
SELECT SUM(m) AS s FROM (SELECT pid, AVG(minutes) AS m FROM visits GROUP BY pid)

-- people by quarter
SELECT quarter(day) AS q, COUNT(DISTINCT pid) AS n FROM visits GROUP BY q

-- each person's mean by quarter, summed
SELECT q, SUM(m) AS s FROM (SELECT pid, quarter(day) AS q, AVG(minutes) AS m FROM visits GROUP BY pid, quarter(day)) GROUP BY q

-- groups of each person limited to the first
SELECT ward, COUNT(*) AS n FROM (SELECT pid, FIRST(ward ORDER BY visit_id) AS ward FROM visits GROUP BY pid) GROUP BY ward

-- a contingency table
SELECT sex, region, married, COUNT(*) AS n FROM people GROUP BY sex, region, married

-- a contingency table with all margins
SELECT sex, region, COUNT(*) AS n FROM people GROUP BY CUBE (sex, region)

-- margins one by one
SELECT sex, NULL AS region, COUNT(*) AS n FROM people GROUP BY sex UNION ALL SELECT NULL, region, COUNT(*) FROM people GROUP BY region

-- shares of a contingency table
SELECT sex, region, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY sex) AS share FROM people GROUP BY sex, region

-- sums for a straight line
SELECT COUNT(*) AS n, SUM(schooling) AS x, SUM(age) AS y, SUM(schooling * age) AS xy, SUM(schooling * schooling) AS xx FROM people

-- slope of a straight line from sums
SELECT (COUNT(*) * SUM(schooling * age) - SUM(schooling) * SUM(age)) / (COUNT(*) * SUM(schooling * schooling) - SUM(schooling) * SUM(schooling)) AS slope FROM people

-- slope of a straight line
SELECT REGR_SLOPE(age, schooling) AS slope FROM people

-- covariance
SELECT COVAR_POP(age, schooling) AS a, COVAR_SAMP(age, schooling) AS b FROM people

-- correlation
SELECT CORR(age, schooling) AS r FROM people

-- variance from sums
SELECT SUM(age * age) / COUNT(*) - (SUM(age) / COUNT(*)) * (SUM(age) / COUNT(*)) AS v FROM people

-- largest of a few groups
-- ties
SELECT region FROM people GROUP BY region ORDER BY COUNT(*) DESC LIMIT 2

-- difference of two groups' means
SELECT AVG(age) FILTER (WHERE married) - AVG(age) FILTER (WHERE NOT married) AS d FROM people

-- ratio of two groups' numbers
SELECT COUNT_IF(married) / COUNT_IF(NOT married) AS r FROM people

-- a product of a share and a number
SELECT 15000 * AVG(CASE WHEN married THEN 1 ELSE 0 END) AS estimate FROM people

-- a mean of a truth value
SELECT AVG(CAST(married AS INTEGER)) AS share FROM people

-- geometric mean
SELECT GEOMEAN(age) AS g FROM people

-- log of a column
SELECT AVG(LN(age)) AS g FROM people

-- cosine of a column
SELECT SUM(COS(age)) AS c FROM people

-- exponent of a column
SELECT SUM(EXP(score / 10.0)) AS e FROM people

-- clip by a choice
SELECT SUM(CASE WHEN cost < 10 THEN 10 WHEN cost > 300 THEN 300 ELSE cost END) AS s FROM visits

-- a column nobody declared, clipped in the question
SELECT SUM(LEAST(GREATEST(visit_id, 0), 5000)) AS s FROM visits

-- a text nobody declared, compared
-- gap: key_not_declared | Keys that are few but not listed
SELECT remark = 'fine' AS fine, COUNT(*) AS n FROM visits GROUP BY fine

-- a text nobody declared, in a count
SELECT COUNT_IF(remark = 'fine') AS n FROM visits

-- values of a text nobody declared
SELECT COUNT(note) AS n FROM people

-- length of a text nobody declared
-- plain: SELECT AVG(LEAST(length(note), 10)) AS m FROM people WHERE note IS NOT NULL
SELECT AVG(LEAST(length(note), 10)) AS m FROM people

-- text trimmed and lowered in a condition
SELECT COUNT(*) AS n FROM people WHERE lower(trim(note)) = 'late'

-- text contains
SELECT COUNT(*) AS n FROM visits WHERE remark LIKE '%again%'

-- key text part
SELECT left(region, 1) AS k, COUNT(*) AS n FROM people GROUP BY k

-- keys concatenated
SELECT sex || '-' || region AS k, COUNT(*) AS n FROM people GROUP BY k

-- physical codes of a category
SELECT CASE region WHEN 'north' THEN 0 WHEN 'east' THEN 1 WHEN 'south' THEN 2 ELSE 3 END AS code, COUNT(*) AS n FROM people GROUP BY code

-- the same column under two aggregates and two filters
SELECT COUNT(*) FILTER (WHERE urgent) AS a, SUM(minutes) FILTER (WHERE urgent) AS b, COUNT(*) FILTER (WHERE NOT urgent) AS c, SUM(minutes) FILTER (WHERE NOT urgent) AS d FROM visits

-- an answer rearranged
SELECT n, sex FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) ORDER BY sex DESC

-- an answer filtered
SELECT * FROM (SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling) WHERE n > 38 ORDER BY schooling

-- an answer with a computed column
SELECT schooling, n * 2 AS twice FROM (SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling)

-- the total of an answer
SELECT SUM(n) AS total FROM (SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling)

-- the largest number of an answer
SELECT MAX(n) AS most FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)

-- an answer with its labels from a public table
SELECT r.country, a.n FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) a JOIN regions r ON a.region = r.region

-- an answer's numbers smoothed over neighbours
SELECT m, AVG(n) OVER (ORDER BY m ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS smooth FROM (SELECT month(day) AS m, COUNT(*) AS n FROM visits GROUP BY m) ORDER BY m

-- sum without bounds
-- refused: column_not_declared | no bounds
SELECT SUM(visit_id) AS s FROM visits

-- columns of rows
-- refused: not_grouped | rows of people are never released
SELECT minutes, cost FROM visits

-- the first row
-- refused: unsupported_sql | a value of one person
SELECT FIRST(minutes) AS m FROM visits

-- the exact largest
-- refused: unsupported_sql | a value of one person
SELECT ARG_MAX(name, income) AS richest FROM people

-- a key of reals
-- refused: keys_not_finite | every value would be a key
SELECT cost, COUNT(*) AS n FROM visits GROUP BY cost

-- a key of text nobody declared
-- refused: key_not_declared | a note may name a person
SELECT note, COUNT(*) AS n FROM people GROUP BY note

-- a function that may fail on a row
-- refused: unsupported_sql | no row can make an engine fail
SELECT SUM(error('no')) AS s FROM people

-- a regular expression
SELECT COUNT(*) AS n FROM people WHERE regexp_matches(note, '^o.*')

-- similar to
-- refused: unsupported_sql | engines do not agree on it
SELECT COUNT(*) AS n FROM people WHERE note SIMILAR TO 'o%'

-- json
-- refused: unsupported_sql | columns hold single values
SELECT COUNT(*) AS n FROM people WHERE json_extract(note, '$.a') = 1

-- a list in a condition
-- refused: unsupported_sql | columns hold single values
SELECT COUNT(*) AS n FROM people WHERE list_contains([1, 2], age)

-- a struct
-- refused: unsupported_sql | columns hold single values
SELECT COUNT(*) AS n FROM (SELECT {'a': age} AS s FROM people) WHERE s.a > 20

-- the name of the row
-- refused: unknown_column | no such column
SELECT COUNT(*) AS n FROM people WHERE rowid < 100

-- a lateral join
-- refused: unsupported_sql | rows of one meet rows of another
SELECT COUNT(*) AS n FROM people, LATERAL (SELECT * FROM visits WHERE visits.day = people.joined) v

-- an as-of join
-- refused: unsupported_sql | rows of one meet rows of another
SELECT COUNT(*) AS n FROM visits ASOF JOIN orders ON visits.day >= orders.day

-- a positional join
-- refused: unsupported_sql | the order of rows is private
SELECT COUNT(*) AS n FROM people POSITIONAL JOIN visits

-- pivot
-- refused: unsupported_sql | keys would be read from private rows
PIVOT people ON region USING COUNT(*)

-- unpivot
-- refused: unsupported_sql | only SELECT is answered
UNPIVOT people ON age, score INTO NAME k VALUE v

-- summarize
-- refused: unsupported_sql | statistics of private rows
SUMMARIZE people

-- first rows of a private order
-- refused: unsupported_sql | it would choose among private rows
SELECT AVG(age) AS a FROM (SELECT * FROM people ORDER BY income DESC LIMIT 10)

-- a fetch clause on rows
-- refused: not_grouped | rows of people are never released
SELECT age FROM people ORDER BY age FETCH FIRST 3 ROWS ONLY

-- for update
-- refused: unsupported_sql | nothing is changed
SELECT COUNT(*) AS n FROM people FOR UPDATE

-- a variable
-- refused: unsupported_sql | parameters are not read
SELECT COUNT(*) AS n FROM people WHERE age > $1

-- a question mark
-- refused: unsupported_sql | parameters are not read
SELECT COUNT(*) AS n FROM people WHERE age > ?
