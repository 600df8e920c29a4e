--- Shapes of the tests, samples and documentation of SmartNoise SQL, written anew for our tables.

-- all rows
SELECT COUNT(*) AS n FROM people

-- all rows, without a name
SELECT COUNT(*) FROM people

-- values of a column
SELECT COUNT(age) AS n FROM people

-- values of a column that has nulls
SELECT COUNT(income) AS n FROM people

-- identifiers
SELECT COUNT(pid) AS n FROM people

-- identifiers in a table with several rows a person
SELECT COUNT(pid) AS n FROM visits

-- different people
SELECT COUNT(DISTINCT pid) AS n FROM visits

-- different people and rows
SELECT COUNT(*) AS rows_here, COUNT(DISTINCT pid) AS people_here FROM visits

-- different people, column in capitals
SELECT COUNT(DISTINCT PID) AS n FROM visits

-- different people with spaces before the bracket
SELECT COUNT (DISTINCT pid) AS n, COUNT (*) AS m FROM people

-- the same number twice under two names
SELECT COUNT(*) AS n, COUNT(*) AS again FROM people

-- three counts
SELECT COUNT(*) AS a, COUNT(sex) AS b, COUNT(age) AS c FROM people

-- counts of columns in another order
SELECT COUNT(sex) AS b, COUNT(score) AS s, COUNT(*) AS a FROM people

-- a sum
SELECT SUM(age) AS total FROM people

-- a sum of reals with nulls
SELECT SUM(income) AS total FROM people

-- a sum in brackets
SELECT (SUM(age)) AS total FROM people

-- a sum in two pairs of brackets
SELECT ((SUM(age))) AS total FROM people

-- a sum times one
SELECT SUM(age) * 1 AS total FROM people

-- a sum and a count
SELECT SUM(age), COUNT(*) FROM people

-- sums of two columns
SELECT SUM(cost), SUM(minutes) AS m FROM visits

-- the same sum twice
SELECT SUM(cost), SUM(cost), SUM(minutes), COUNT(ward) FROM visits

-- the same sum twice, by key
SELECT SUM(cost) AS a, SUM(cost) AS b, SUM(minutes) AS c, COUNT(kind) AS d FROM visits GROUP BY ward

-- a mean
SELECT AVG(age) AS mean FROM people

-- a mean of reals with nulls
SELECT AVG(income) AS mean FROM people

-- two means
SELECT AVG(age), AVG(income) FROM people

-- a mean, a sum and a count of one column
SELECT AVG(age), SUM(age), COUNT(age) FROM people

-- arithmetic on five aggregates
SELECT AVG(age) + 3 AS a, STDDEV(age) AS b, VARIANCE(age) AS c, SUM(age) / 10 AS d, COUNT(age) + 2 AS e FROM people

-- STD and VAR as they are called there
-- plain: SELECT AVG(age) + 3 AS a, STDDEV(age) AS b, VARIANCE(age) AS c FROM people
SELECT AVG(age) + 3 AS a, STD(age) AS b, VAR(age) AS c FROM people

-- a variance under the name VAR
-- plain: SELECT COUNT(*) AS n, VARIANCE(age) AS v FROM people
SELECT COUNT(*) AS n, VAR(age) AS v FROM people

-- STDEV
-- plain: SELECT STDDEV(age) AS s FROM people
SELECT STDEV(age) AS s FROM people

-- variance in brackets by key
SELECT (VARIANCE(age)) AS v, married FROM people GROUP BY married

-- variances of two columns by key
SELECT VARIANCE(age) AS a, VARIANCE(income) AS b FROM people GROUP BY sex

-- deviation by key
SELECT sex, STDDEV(age) AS s FROM people GROUP BY sex

-- five statistics of a column
SELECT COUNT(*) AS n, SUM(income) AS s, AVG(income) AS m, VARIANCE(income) AS v, STDDEV(income) AS d FROM people

-- square of a sum
SELECT POWER(SUM(age), 2) AS squared FROM people

-- square of a mean
SELECT POWER(AVG(age), 2) AS squared FROM people

-- pi beside an aggregate
SELECT PI() AS p, POWER(AVG(age), 2) AS squared FROM people

-- pi times a number
SELECT pi() * COUNT(*) AS n FROM people

-- logarithm of a count
SELECT LN(COUNT(*)) AS l FROM people

-- logarithm to base two of a count
SELECT LOG2(COUNT(*)) AS l FROM people

-- a count rounded up
SELECT CEIL(COUNT(*) / 7) AS n FROM people

-- a hyperbolic function of a share
SELECT ATANH(COUNT(*) / 1000) AS a FROM people

-- degrees of a share
SELECT DEGREES(COUNT(*) / 1000) AS a FROM people

-- cosine of a count
SELECT 3 * COS(COUNT(*)) AS c FROM people

-- a mean rounded
SELECT ROUND(AVG(income), 1) AS m FROM people

-- root of a sum of squares
SELECT SQRT(AVG(minutes * minutes) - AVG(minutes) * AVG(minutes)) AS s FROM visits

-- a count scaled and squared, by key
SELECT POWER(COUNT(pid) / 100, 2) AS n, ward FROM visits GROUP BY ward

-- one plus a count
SELECT 1 + COUNT(pid) AS n FROM people

-- filtered sum
SELECT SUM(minutes) AS m FROM visits WHERE ward = 'A'

-- filtered by a truth value
SELECT SUM(income) AS s FROM people WHERE married = TRUE

-- filtered by a truth value alone
SELECT SUM(income) AS s FROM people WHERE married

-- filtered by not a truth value
SELECT SUM(income) AS s FROM people WHERE NOT married

-- filtered to nobody
SELECT COUNT(*) AS n FROM people WHERE age > 100

-- a sum over nobody
-- plain: SELECT 0 AS s
SELECT SUM(age) AS s FROM people WHERE age > 100

-- filtered by a condition above the bound
SELECT COUNT(*) AS n FROM people WHERE age > 50 AND schooling = 8

-- number compared with text of a number
-- plain: SELECT COUNT(*) AS n FROM people WHERE age > 50 AND schooling = 8
SELECT COUNT(*) AS n FROM people WHERE age > 50 AND schooling = '8'

-- filtered by two columns
SELECT COUNT(*) AS n FROM people WHERE age > 40 AND schooling < 2

-- filtered by columns compared
SELECT COUNT(*) AS n FROM people WHERE score < schooling AND age > score OR married != TRUE

-- filtered by NOT of an equality
SELECT COUNT(*) AS n FROM people WHERE NOT age = 30

-- filtered by NOT IN columns
SELECT COUNT(*) AS n FROM people WHERE score NOT IN (schooling)

-- filtered by IS NOT NULL
SELECT COUNT(*) AS n FROM people WHERE income IS NOT NULL

-- filtered by arithmetic
SELECT COUNT(*) AS n FROM people WHERE (5 + (income * 0.01)) > age

-- filtered by an operator with an exclamation mark
SELECT SUM(cost) AS s, COUNT(*) AS n FROM visits WHERE warmth > 37.5 AND remark != 'left'

-- by a truth value
SELECT COUNT(*) AS n FROM people GROUP BY married

-- by a truth value that is shown
SELECT married, COUNT(*) AS n FROM people GROUP BY married

-- key last
SELECT COUNT(*) AS n, married AS m FROM people GROUP BY married

-- ordered by the number, downwards
-- ties
SELECT COUNT(*) AS n, married AS m FROM people GROUP BY married ORDER BY n DESC

-- ordered by the number
-- ties
SELECT COUNT(*) AS n, sex AS s FROM people GROUP BY sex ORDER BY n

-- number times five, ordered
SELECT COUNT(*) * 5 AS n, region AS r FROM people GROUP BY region ORDER BY n DESC, r

-- by a number
SELECT age, COUNT(*) AS n FROM people GROUP BY age

-- by a number, key not shown
SELECT SUM(age) AS s FROM people GROUP BY age

-- by a number, mean of the key itself
SELECT AVG(age) AS m FROM people GROUP BY age

-- table in capitals
SELECT SUM(age) AS s FROM PEOPLE GROUP BY age

-- by two keys
SELECT age, sex, SUM(income) AS s FROM people GROUP BY age, sex

-- by three keys
SELECT married, schooling, sex, AVG(age) AS m FROM people GROUP BY married, schooling, sex

-- by three keys of visits, with a filter
SELECT AVG(minutes) AS m, ward, kind, urgent FROM visits WHERE warmth > 36.5 GROUP BY urgent, ward, kind

-- people by three keys, with a filter
SELECT COUNT(DISTINCT pid) AS n, ward, kind, urgent FROM visits WHERE warmth > 36.5 GROUP BY ward, kind, urgent

-- rows by three keys, ordered
SELECT COUNT(pid) AS n, ward, urgent, kind, AVG(minutes) AS m FROM visits WHERE warmth > 36.5 GROUP BY ward, urgent, kind ORDER BY ward, urgent, n DESC, m

-- people by key, key not shown
SELECT COUNT(DISTINCT pid) AS n FROM visits GROUP BY urgent

-- people by a number
-- empty groups
SELECT COUNT(DISTINCT pid) AS n, age, schooling FROM people WHERE age > 54 GROUP BY age, schooling

-- different values by key
SELECT schooling, COUNT(DISTINCT age) AS n FROM people GROUP BY schooling

-- several aggregates where a truth value holds
SELECT schooling, SUM(income) AS s, AVG(income) AS m, AVG(age) FROM people WHERE married = TRUE GROUP BY schooling

-- keys named in the filter
SELECT ward, SUM(minutes) AS m FROM visits WHERE ward IN ('A', 'C') GROUP BY ward ORDER BY ward DESC

-- numbers named in the filter
SELECT schooling, SUM(income) AS s FROM people WHERE schooling IN (2, 3) GROUP BY schooling ORDER BY schooling DESC

-- a constant column
SELECT 3 AS three, married, schooling, AVG(income) AS m FROM people GROUP BY schooling, married

-- keys alone
SELECT schooling FROM people GROUP BY schooling

-- keys alone, alias of the table
SELECT p.married, AVG(age) AS m FROM people AS p GROUP BY married

-- keys alone, two
SELECT sex AS s, schooling AS e FROM people GROUP BY sex, schooling

-- ordered by two keys in two directions
SELECT ward, urgent, AVG(warmth) AS w FROM visits GROUP BY ward, urgent ORDER BY ward, urgent DESC

-- ordered by keys in another order
SELECT ward, urgent, AVG(warmth) AS w FROM visits GROUP BY ward, urgent ORDER BY urgent, ward

-- ordered by aggregates not shown
-- ties
SELECT schooling, COUNT(DISTINCT pid) AS n FROM people GROUP BY schooling ORDER BY COUNT(pid) DESC

-- ordered by an expression of aliases
SELECT region, COUNT(*) AS n, SUM(age) AS s FROM people GROUP BY region ORDER BY 2 * s / ((n + 300.11) / 2) DESC

-- ordered by a key of the inner column
SELECT sex AS gender, schooling FROM people GROUP BY sex, schooling ORDER BY sex DESC, schooling

-- ordered by an alias of a key
SELECT sex AS gender, schooling FROM people GROUP BY sex, schooling ORDER BY gender DESC, schooling

-- ordered by the key as text
SELECT schooling FROM people GROUP BY schooling ORDER BY CAST(schooling AS VARCHAR) DESC

-- ordered by the key as a whole number
SELECT schooling FROM people GROUP BY schooling ORDER BY CAST(schooling AS INTEGER) DESC

-- ordered by arithmetic on a key
SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling ORDER BY (schooling * -1) DESC

-- ordered by a key converted and shifted
SELECT married, schooling FROM people GROUP BY married, schooling ORDER BY (CAST(married AS INTEGER) + 5) DESC, schooling

-- ordered by names that were exchanged
-- ties
SELECT sex AS region, region AS sex, COUNT(*) AS n FROM people GROUP BY people.sex, people.region ORDER BY n

-- the first few
SELECT age, married, COUNT(*) AS n, SUM(income) AS s FROM people GROUP BY age, married ORDER BY married, age DESC LIMIT 10

-- the first few by a sum
SELECT age, married, COUNT(*) AS n, SUM(income) AS s FROM people GROUP BY age, married ORDER BY s DESC, age LIMIT 50

-- the first few without an order
-- plain: SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling ORDER BY schooling LIMIT 4
SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling LIMIT 4

-- TOP before the columns
-- plain: SELECT schooling, AVG(income) AS m FROM people GROUP BY schooling ORDER BY m DESC LIMIT 5
SELECT TOP 5 schooling, AVG(income) AS m FROM people GROUP BY schooling ORDER BY m DESC

-- a share that is at most so large
SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling HAVING COUNT(*) > 38

-- a condition on the alias
SELECT schooling, COUNT(DISTINCT pid) AS n FROM people GROUP BY schooling HAVING n > 38

-- a condition on an aggregate not shown
SELECT schooling, COUNT(DISTINCT pid) AS n FROM people GROUP BY schooling HAVING COUNT(*) > 38

-- a condition on different people
SELECT schooling, COUNT(DISTINCT pid) AS n FROM people GROUP BY schooling HAVING COUNT(DISTINCT pid) > 38

-- a condition on the key
SELECT age, COUNT(*) AS n FROM people GROUP BY age HAVING age < 30 OR age > 50

-- a condition on the key and the number
SELECT age, COUNT(*) AS n FROM people GROUP BY age HAVING (age < 30 OR age > 50) AND n > 10

-- a condition on arithmetic with the key
SELECT age, COUNT(*) AS n FROM people GROUP BY age HAVING age * 1000 < 30000 OR age * 2 > 100

-- a condition on arithmetic with the number
SELECT age, COUNT(*) AS n FROM people GROUP BY age HAVING (age < 30 OR age > 50) AND n * 100 / 2 > 500

-- a condition on a scaled number
SELECT age, COUNT(*) * 1000 AS n FROM people GROUP BY age HAVING (age < 30 OR age > 50) AND n > 10000

-- a condition on number over key
SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling HAVING (COUNT(*) / CAST(schooling AS INTEGER)) > 5

-- a condition that is a truth value
SELECT married, SUM(income) AS s, SUM(age) AS a FROM people GROUP BY married HAVING married

-- a condition that is not a truth value
SELECT age, married, COUNT(*) AS n, SUM(income) AS s FROM people GROUP BY age, married HAVING NOT married

-- a truth value compared with one
-- plain: SELECT age, married, COUNT(*) AS n FROM people GROUP BY age, married HAVING married
SELECT age, married, COUNT(*) AS n FROM people GROUP BY age, married HAVING married = 1

-- a truth value compared with nought
-- plain: SELECT age, married, COUNT(*) AS n FROM people GROUP BY age, married HAVING NOT married
SELECT age, married, COUNT(*) AS n FROM people GROUP BY age, married HAVING married = 0

-- a number or a truth value
SELECT age, married, COUNT(*) AS n, SUM(income) AS s FROM people GROUP BY age, married HAVING n > 5 OR NOT married

-- a sum or a key
SELECT age, sex, COUNT(*) AS n, SUM(income) AS s FROM people GROUP BY age, sex HAVING s > 18000 OR sex = 'm'

-- a large sum
SELECT age, sex, COUNT(*) AS n, SUM(income) AS s FROM people GROUP BY age, sex HAVING s > 18000

-- a key alone in a condition
SELECT age, sex, COUNT(*) AS n FROM people GROUP BY age, sex HAVING sex = 'm'

-- a condition, an order and a limit
SELECT age, sex, SUM(income) AS s, SUM(age) AS a FROM people GROUP BY age, sex HAVING NOT (sex = 'f') ORDER BY s, sex DESC, age LIMIT 10

-- conditions joined by and, or and not
SELECT age, SUM(income) AS s FROM people GROUP BY age HAVING age > 25 AND COUNT(*) > 7 OR NOT (age < 25)

-- a condition on exchanged names
-- empty groups
SELECT schooling AS age, age AS schooling, COUNT(*) AS n FROM people GROUP BY people.schooling, people.age HAVING people.age > 50

-- a key times a number
SELECT age * 1000 AS k, COUNT(*) AS n FROM people GROUP BY k HAVING k < 30000 OR k > 50000

-- by a CASE that is not shown
SELECT SUM(age) AS s FROM people GROUP BY married, CASE WHEN age > 40 THEN 1 ELSE 0 END

-- sum of a CASE
SELECT SUM(CASE WHEN age > 40 THEN 1 ELSE 0 END) AS n FROM people

-- sum of a CASE by number
SELECT SUM(CASE schooling WHEN 1 THEN 10 WHEN 2 THEN 20 ELSE 0 END) AS n FROM people

-- by a CASE of four steps
SELECT CASE WHEN income < 1000 THEN 1 WHEN income >= 1000 AND income < 2000 THEN 2 WHEN income >= 2000 AND income < 5000 THEN 3 ELSE 4 END AS bucket, COUNT(*) AS n FROM people GROUP BY bucket

-- by IIF
-- plain: SELECT CASE WHEN income > 1000 THEN 'Big' ELSE 'Small' END AS size, COUNT(*) AS n FROM people GROUP BY size
SELECT IIF(income > 1000, 'Big', 'Small') AS size, COUNT(*) AS n FROM people GROUP BY size

-- by a value clamped with CASE
SELECT CASE WHEN age < 25 THEN 25 WHEN age > 30 THEN 30 ELSE age END AS a, COUNT(*) AS n FROM people GROUP BY a

-- by a CASE of a truth value
SELECT CASE married WHEN TRUE THEN 'yes' WHEN FALSE THEN 'no' END AS m, COUNT(*) AS n FROM people GROUP BY m

-- a sum of a sum of columns
SELECT SUM(age + income) AS s FROM people

-- a sum of a shifted column
SELECT SUM(age + 1) * 1 AS s FROM people

-- a sum of a negated column
SELECT SUM(-1 * income) AS s FROM people

-- a sum of a square
SELECT SUM(POWER(age, 2)) AS s FROM people

-- a sum of a quotient with a column in brackets
SELECT SUM(income / (((people.schooling)))) AS s FROM people

-- a quotient by key
SELECT region, SUM(income) / COUNT(income) AS m FROM people GROUP BY region

-- a choice by an aggregate
SELECT CASE WHEN SUM(age) > 1 THEN 7 ELSE 8 END AS c FROM people

-- texts of keys joined
SELECT CONCAT(sex, region) AS k, COUNT(*) AS n FROM people GROUP BY k

-- a number as text
SELECT CAST(age AS VARCHAR) AS k, COUNT(*) AS n FROM people GROUP BY k

-- two numbers as texts joined
SELECT CONCAT(CAST(married AS VARCHAR), CAST(schooling AS VARCHAR)) AS k, COUNT(*) AS n FROM people GROUP BY k

-- CHAR of twenty letters
-- plain: SELECT CAST(age AS VARCHAR) AS k, COUNT(*) AS n FROM people GROUP BY k
SELECT CAST(age AS CHAR(20)) AS k, COUNT(*) AS n FROM people GROUP BY k

-- text of a digit to a number
SELECT SUM(CAST(CAST(schooling AS VARCHAR) AS INTEGER)) AS s FROM people

-- a subquery that takes everything
SELECT COUNT(*) AS n FROM (SELECT * FROM people)

-- subqueries in three layers
SELECT COUNT(minutes) / 7 AS m FROM (SELECT * FROM (SELECT * FROM (SELECT minutes, cost FROM visits)))

-- subqueries in three layers over a join
SELECT (3 * COUNT(minutes)) AS m FROM (SELECT * FROM (SELECT * FROM (SELECT minutes, cost FROM people JOIN visits USING (pid))))

-- a join on the person
SELECT region, AVG(warmth) AS w FROM people JOIN visits USING (pid) GROUP BY region ORDER BY region

-- a join on the person inside, by keys of both
SELECT region, ward, COUNT(pid) AS n, SUM(minutes) AS m FROM (SELECT minutes, ward, q.* FROM visits JOIN (SELECT pid, region FROM people) AS q USING (pid)) AS z GROUP BY region, ward ORDER BY region, ward

-- a join of three tables on the person
SELECT region, item, COUNT(pid) AS n, SUM(minutes) AS m FROM (SELECT v.*, t.region, t.item FROM visits AS v JOIN (SELECT pid, region, item FROM (people JOIN orders USING (pid)) AS q) AS t USING (pid)) AS z GROUP BY region, item

-- three tables joined one after the other
SELECT sex, SUM(minutes) AS m FROM people JOIN visits USING (pid) JOIN orders USING (pid) GROUP BY sex ORDER BY sex

-- an alias of a table in brackets
SELECT SUM(c.minutes) AS m FROM (visits) AS c

-- join with ON and aliases
SELECT COUNT(*) AS n FROM people AS a INNER JOIN visits AS b ON a.pid = b.pid

-- left outer join on the person
SELECT region, COUNT(v.minutes) AS n FROM people LEFT OUTER JOIN visits v ON people.pid = v.pid GROUP BY region

-- semi join on the person
-- plain: SELECT COUNT(*) AS n FROM people WHERE pid IN (SELECT pid FROM orders)
SELECT COUNT(*) AS n FROM people LEFT SEMI JOIN orders USING (pid)

-- anti join on the person
-- plain: SELECT COUNT(*) AS n FROM people WHERE pid NOT IN (SELECT pid FROM orders)
SELECT COUNT(*) AS n FROM people LEFT ANTI JOIN orders ON people.pid = orders.pid

-- comma join on the person
SELECT COUNT(*) AS n FROM people, visits WHERE people.pid = visits.pid

-- columns qualified by the table
SELECT COUNT(visits.ward), COUNT(*) FROM visits

-- columns qualified by an alias
SELECT COUNT(t.ward) AS n, COUNT(*) AS m FROM visits AS t

-- names in double quotes
SELECT "ward" AS col, SUM(visits."minutes") AS m FROM visits GROUP BY col

-- names in back-quotes
-- plain: SELECT SUM(minutes) AS m FROM visits
SELECT SUM(`minutes`) AS m FROM `visits`

-- names in square brackets
-- plain: SELECT SUM(minutes) AS m FROM visits
SELECT SUM([minutes]) AS m FROM [visits]

-- name of a schema before the table
-- plain: SELECT SUM(age) AS s FROM people
SELECT SUM(age) AS s FROM main.people

-- name of a database and a schema before the table
-- plain: SELECT COUNT(*) AS n FROM people
SELECT COUNT(*) AS n FROM memory.main.people

-- table with its own name as schema
-- plain: SELECT COUNT(*) AS n FROM people
SELECT COUNT(*) AS n FROM people.people

-- alias with an accent
SELECT SUM(age) AS "âge" FROM people

-- alias in another script
SELECT SUM(age) AS 検知日時 FROM people

-- alias with a space
SELECT region AS "my region", AVG(age) AS "my mean" FROM people GROUP BY "my region" ORDER BY "my region"

-- a semicolon at the end
SELECT COUNT(*) AS n FROM people;

-- different people in a subquery ordered inside
SELECT COUNT(DISTINCT pid) AS n FROM (SELECT pid, SUM(cost) AS s FROM visits GROUP BY pid ORDER BY s DESC) ORDER BY n

-- a mean of sums of each person
SELECT AVG(s) AS m FROM (SELECT pid, SUM(minutes) AS s FROM visits GROUP BY pid) AS q

-- sums of each person and key
SELECT ward, SUM(s) AS m FROM (SELECT pid, ward, SUM(minutes) AS s FROM visits GROUP BY pid, ward) AS q GROUP BY ward

-- a clamped sum of each person and key
-- empty groups
SELECT ward, COUNT(pid) AS n, SUM(s) AS m FROM (SELECT pid, ward, SUM(CASE WHEN minutes < 0 THEN 0 WHEN minutes > 10 THEN 10 ELSE minutes END) AS s FROM visits WHERE ward IN ('A', 'B') GROUP BY pid, ward) AS q GROUP BY ward ORDER BY ward DESC

-- at most five rows of each person by number
SELECT ward, SUM(minutes) AS m FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY visit_id) AS place FROM visits) AS q WHERE place <= 5 GROUP BY ward

-- keys by day
SELECT day, SUM(minutes) AS m FROM visits GROUP BY day ORDER BY day DESC

-- days and hours
-- refused: key_not_declared | a column whose range nobody declared is no key
SELECT CAST(at AS DATE) AS d, SUM(minutes) AS m FROM visits WHERE at >= TIMESTAMP '2024-02-01 00:00:00' AND at < TIMESTAMP '2024-02-08 00:00:00' GROUP BY d ORDER BY d

-- keys nobody listed
-- spend: delta
SELECT town, COUNT(*) AS n FROM people GROUP BY town

-- keys nobody listed, names alone
-- spend: delta
SELECT town FROM people GROUP BY town

-- keys nobody listed, ordered by number
-- spend: delta
-- ties
SELECT town, COUNT(*) AS n FROM people GROUP BY town ORDER BY n DESC

-- people of keys nobody listed
-- spend: delta
SELECT town, COUNT(DISTINCT pid) AS n, AVG(age) AS m FROM people GROUP BY town

-- different aggregates of an empty choice
-- plain: SELECT COUNT(*) AS n, COALESCE(SUM(age), 0) AS s FROM people WHERE region = 'north' AND sex = 'f' AND age = 18 AND married
SELECT COUNT(*) AS n, SUM(age) AS s FROM people WHERE region = 'north' AND sex = 'f' AND age = 18 AND married

-- distinct numbers
SELECT DISTINCT COUNT(*) AS n FROM people GROUP BY sex

-- a large number of keys without rows
SELECT age, schooling, sex, COUNT(*) AS n FROM people GROUP BY age, schooling, sex HAVING n > 3

-- COUNT ALL
-- plain: SELECT region, COUNT(age) AS n FROM people GROUP BY region
SELECT region, COUNT(ALL age) AS n FROM people GROUP BY region

-- sum of different values
SELECT region, SUM(DISTINCT schooling) AS s, AVG(age) AS m, COUNT(age) AS n FROM people GROUP BY region

-- a scalar subquery beside an aggregate
SELECT COUNT(*) AS n, (SELECT AVG(minutes) FROM visits) AS m FROM people

-- a comparison with a mean
-- gap: unsupported_sql | Scalar subqueries
SELECT COUNT(*) AS n FROM people WHERE age > (SELECT AVG(age) FROM people)

-- union of two answers
SELECT 'f' AS k, COUNT(*) AS n FROM people WHERE sex = 'f' UNION ALL SELECT 'm' AS k, COUNT(*) AS n FROM people WHERE sex = 'm'

-- a sum of means of groups
SELECT SUM(m) AS s FROM (SELECT AVG(age) AS m FROM people GROUP BY married) AS q

-- sums by key over inner means
SELECT SUM(m) AS s FROM (SELECT sex, region, AVG(age) AS m FROM people GROUP BY sex, region) AS q GROUP BY region

-- every row
-- refused: unsupported_sql | rows of people are never released
SELECT * FROM people

-- every row of a join
-- refused: unsupported_sql | rows of people are never released
SELECT people.*, visits.minutes FROM people JOIN visits USING (pid)

-- a column of every row
-- refused: not_grouped | rows of people are never released
SELECT age FROM people

-- a column of every row, filtered
-- refused: not_grouped | rows of people are never released
SELECT age AS a FROM people WHERE age > 55

-- two columns of every row
-- refused: not_grouped | rows of people are never released
SELECT minutes * 7, cost * 101.11 FROM visits

-- an expression of every row
-- refused: not_grouped | rows of people are never released
SELECT (1 + minutes) AS m FROM (SELECT * FROM (SELECT minutes, cost FROM people JOIN visits USING (pid)))

-- a column of a join
-- refused: not_grouped | rows of people are never released
SELECT region, minutes FROM (people INNER JOIN visits USING (pid))

-- a joined identifier
-- refused: not_grouped | rows of people are never released
SELECT a.pid, b.income FROM people AS a JOIN people AS b ON b.pid = a.pid

-- a truth value of every row
-- refused: not_grouped | rows of people are never released
SELECT married FROM people

-- a CASE of every row
-- refused: not_grouped | rows of people are never released
SELECT CASE WHEN age > 40 THEN 1 ELSE 0 END AS a FROM people

-- a constant for every row
-- refused: no_aggregate | it has as many rows as the table
SELECT 'here' FROM people

-- a number for every row
-- refused: no_aggregate | it has as many rows as the table
SELECT 1 FROM people

-- the first rows
-- refused: not_grouped | rows of people are never released
SELECT age FROM people LIMIT 10

-- rows in an order
-- refused: unsupported_sql | rows of people are never released
SELECT * FROM people ORDER BY age ASC

-- TOP of rows
-- refused: not_grouped | rows of people are never released
SELECT TOP 12 age FROM people

-- different values of a column nobody listed
-- refused: key_not_declared | names of people are never released
SELECT DISTINCT name FROM people

-- one group for each person
-- refused: key_is_identifier | a group of one person
SELECT COUNT(pid) AS n FROM people GROUP BY pid

-- one group for each person, shown
-- refused: key_is_identifier | a group of one person
SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid

-- a column that is no key
-- refused: not_grouped | a value of one of many rows
SELECT married, schooling, income, AVG(age) FROM people

-- a column that is no key beside keys
-- refused: not_grouped | a value of one of many rows
SELECT 3 AS three, p.married, schooling, AVG(income) FROM people AS p GROUP BY schooling

-- an aggregate of an aggregate
-- refused: unsupported_sql | the inner number is one already
SELECT SUM(SUM(age)) FROM people

-- a mean of everything
-- refused: unsupported_sql | not SQL
SELECT AVG(*) AS n FROM people GROUP BY sex

-- keys with reals
-- refused: keys_not_finite | every income would be a key
SELECT income, COUNT(pid) AS n FROM people GROUP BY income

-- keys with reals, alone
-- refused: keys_not_finite | every income would be a key
SELECT income FROM people GROUP BY income

-- a sum of a key with reals
-- refused: keys_not_finite | every income would be a key
SELECT income, SUM(income) FROM people GROUP BY income

-- a text column that nobody declared
-- refused: key_not_declared | a remark may name a person
SELECT remark, COUNT(*) AS n FROM visits GROUP BY remark

-- a sum of identifiers
-- refused: column_not_declared | nobody declared its bounds
SELECT SUM(pid) AS s FROM people

-- deviation of identifiers
-- refused: column_not_declared | nobody declared its bounds
SELECT STDDEV(visit_id) AS s FROM visits

-- random numbers
-- refused: unsupported_sql | chance other than ours
SELECT RAND(), COUNT(*) FROM people

-- an order by chance
-- refused: unsupported_sql | chance other than ours
SELECT region, COUNT(*) AS n FROM people GROUP BY region ORDER BY random()

-- rows chosen by chance
-- refused: unsupported_sql | chance other than ours
SELECT ward, SUM(minutes) AS m FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY random()) AS place FROM visits) AS q WHERE place <= 5 GROUP BY ward

-- a join on what is not the person
-- refused: private_join | one person's row meets many others
SELECT COUNT(a.minutes) AS n FROM visits AS a JOIN visits AS b ON a.day = b.day

-- a comma without a condition
-- refused: private_join | one person's row meets everybody's
SELECT AVG(income) AS m FROM people, visits

-- a dot at the end of a name
-- refused: no_table | not SQL
SELECT age. FROM people

-- two operators
-- refused: sql_syntax | not SQL
SELECT SUM(age * / 7) FROM people

-- an operator before AS
-- refused: sql_syntax | not SQL
SELECT SUM(age) * 0.01 + AS x FROM people

-- no FROM before WHERE
-- refused: no_table | no table
SELECT age WHERE age = 7

-- a quote that is not closed
-- refused: sql_syntax | not SQL
SELECT COUNT(*) FROM people WHERE note = '''

-- WHERE without a condition
-- refused: sql_syntax | not SQL
SELECT COUNT(*) FROM people WHERE

-- SELECT as a table without brackets
-- refused: unsupported_sql | not SQL
SELECT COUNT(*) FROM SELECT * FROM people

-- a reserved word as a table
-- refused: sql_syntax | not SQL
SELECT COUNT(*) FROM UNION

-- USING with ON
-- refused: sql_syntax | not SQL
SELECT COUNT(*) FROM people JOIN visits USING ON pid

-- ORDER BY before FROM
-- refused: sql_syntax | not SQL
SELECT ORDER BY 5 FROM people

-- words that are no clause
-- refused: sql_syntax | not SQL
SELECT COUNT(*) FROM people WHENCE age IS 5

-- a number as a key
-- refused: no_such_column | there is no such column
SELECT COUNT(*) FROM people GROUP BY 7

-- a table that is not there
-- refused: unknown_table | no such table
SELECT COUNT(*) FROM nobody

-- a column that is not there
-- refused: unknown_column | no such column
SELECT SUM(wages) FROM people

-- two statements
-- refused: sql_syntax | one question at a time
SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM visits
