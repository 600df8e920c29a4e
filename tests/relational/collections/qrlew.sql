--- Shapes of the tests and documentation of qrlew and pyqrlew, written anew for our tables.

-- mean
SELECT AVG(schooling) AS a FROM people

-- count plus one and a sum of a shifted column
SELECT 1 + COUNT(score) AS a, SUM(1 + schooling) AS b FROM people

-- one plus a sum
SELECT 1 + SUM(minutes), COUNT(cost) FROM visits

-- one plus a sum, filtered
SELECT 1 + SUM(minutes) AS s, COUNT(cost) AS n FROM visits WHERE minutes > 40

-- one plus a sum by key
SELECT 1 + SUM(minutes) AS s, COUNT(cost) AS n FROM visits GROUP BY ward

-- one plus a sum, shown key last
SELECT 1 + SUM(minutes) AS s, COUNT(cost) AS n, ward FROM visits GROUP BY ward

-- number by a rounded key, key not shown
SELECT COUNT(minutes) AS n FROM visits GROUP BY CEIL(warmth)

-- number by a rounded key
-- empty groups
SELECT CEIL(warmth) AS w, COUNT(minutes) AS n FROM visits GROUP BY CEIL(warmth)

-- number by the alias of a rounded key
-- empty groups
SELECT CEIL(warmth) AS w, COUNT(minutes) AS n FROM visits GROUP BY w

-- two counts, one qualified
SELECT COUNT(cost) AS a, COUNT(visits.kind) AS b FROM visits

-- filter on the key
SELECT 1 + SUM(income) AS s, COUNT(score) AS n, schooling FROM people WHERE schooling > 4 GROUP BY schooling

-- filter on the key, key not shown
SELECT 1 + SUM(income) AS s, COUNT(score) AS n FROM people WHERE schooling > 4 GROUP BY schooling

-- sum over a join on the person
SELECT SUM(minutes) AS s FROM people JOIN visits ON people.pid = visits.pid

-- sum over a join of two CTEs
WITH a AS (SELECT pid, minutes FROM visits), b AS (SELECT * FROM people) SELECT SUM(minutes) AS s FROM a JOIN b ON a.pid = b.pid

-- sum over a join of two CTEs, filtered inside
-- within: 4
WITH a AS (SELECT pid, minutes FROM visits WHERE minutes > 40), b AS (SELECT * FROM people) SELECT MAX(minutes) AS m, SUM(age) AS s FROM a INNER JOIN b ON a.pid = b.pid

-- a CTE and a public cross join
WITH a AS (SELECT pid, minutes FROM visits WHERE minutes > 40) SELECT MAX(minutes) AS m, COUNT(*) AS n FROM a CROSS JOIN wards

-- ordered upwards
SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling ORDER BY schooling

-- ordered downwards
SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling ORDER BY schooling DESC

-- ordered by the number
-- ties
SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling ORDER BY n

-- distinct numbers of groups
SELECT DISTINCT COUNT(*) AS n FROM people GROUP BY schooling

-- distinct keys of declared columns
SELECT DISTINCT sex, region FROM people

-- count and sum of different values
SELECT COUNT(DISTINCT schooling) AS n, SUM(DISTINCT schooling) AS s FROM people

-- count and sum of different values by key
SELECT region, COUNT(DISTINCT schooling) AS n, SUM(DISTINCT schooling) AS s FROM people GROUP BY region ORDER BY region

-- sum of different values with a condition
SELECT SUM(DISTINCT minutes) AS s FROM visits GROUP BY ward HAVING COUNT(*) > 5

-- sum of different values beside a sum
SELECT SUM(DISTINCT score) AS a, SUM(score) AS b FROM people

-- all statistics of different values
SELECT COUNT(DISTINCT age) AS a, SUM(DISTINCT age) AS b, AVG(DISTINCT age) AS c, VARIANCE(DISTINCT age) AS d, STDDEV(DISTINCT age) AS e FROM people

-- all statistics of different values by key
SELECT sex, COUNT(DISTINCT age) AS a, AVG(DISTINCT age) AS b, SUM(DISTINCT age) AS c, VARIANCE(DISTINCT age) AS d, STDDEV(DISTINCT age) AS e FROM people GROUP BY sex

-- sums with and without DISTINCT by key
SELECT sex, SUM(age) AS a, VARIANCE(age) AS b, SUM(DISTINCT age) AS c, SUM(DISTINCT schooling) AS d FROM people GROUP BY sex

-- sums with and without DISTINCT by key that is not shown
SELECT SUM(age) AS a, VARIANCE(age) AS b, SUM(DISTINCT age) AS c, SUM(DISTINCT schooling) AS d FROM people GROUP BY sex

-- sum of different values, filtered, with a condition on the whole
SELECT SUM(DISTINCT age) AS s FROM people WHERE sex = 'f' HAVING COUNT(*) > 5

-- sum of different values by a rounded key
SELECT COUNT(*) AS n, SUM(DISTINCT schooling) AS s FROM people GROUP BY CEIL(age / 10)

-- a distinct sum
SELECT DISTINCT SUM(age) AS s FROM people

-- sums over inner sums of different values
SELECT SUM(a) AS x, SUM(b) AS y FROM (SELECT SUM(DISTINCT schooling) AS a, SUM(DISTINCT age) AS b FROM people GROUP BY sex HAVING COUNT(*) > 5) AS q

-- the key summed
SELECT schooling, SUM(schooling) AS s FROM people GROUP BY schooling

-- part of a text as a label of a key
SELECT SUBSTRING(region FROM 1 FOR 2) AS m, COUNT(*) AS n FROM people GROUP BY region

-- part of a text as a key
SELECT SUBSTRING(region FROM 1 FOR 2) AS m, COUNT(*) AS n FROM people GROUP BY m

-- capitals of a key
SELECT UPPER(region) AS m, COUNT(*) AS n FROM people GROUP BY region

-- small letters of a key
SELECT LOWER(region) AS m, COUNT(*) AS n FROM people GROUP BY region

-- capitals as a key
SELECT UPPER(region) AS m, COUNT(*) AS n FROM people GROUP BY UPPER(region)

-- length of a key as a label
SELECT CHAR_LENGTH(region) AS m, COUNT(*) AS n FROM people GROUP BY region

-- place of a letter as a label
SELECT POSITION('t' IN region) AS m, COUNT(*) AS n FROM people GROUP BY region

-- place of a letter as a key
SELECT POSITION('t' IN region) AS m, COUNT(*) AS n FROM people GROUP BY m

-- a number as text of a label
SELECT CAST(schooling AS VARCHAR) AS m, COUNT(*) AS n FROM people GROUP BY schooling

-- trimmed text as a key
SELECT TRIM(region) AS m, COUNT(*) AS n FROM people GROUP BY TRIM(region)

-- trimmed text nobody declared as a key
-- refused: key_not_declared | a note may name a person
SELECT TRIM(note) AS m, COUNT(*) AS n FROM people GROUP BY TRIM(note)

-- a text hashed, as a key
-- refused: unsupported_sql | not total on three engines, and its values cannot be listed
SELECT MD5(region) AS m, COUNT(*) AS n FROM people GROUP BY m

-- texts joined as a key
SELECT CONCAT(region, '-', sex) AS m, COUNT(*) AS n FROM people GROUP BY m

-- a null replaced in a key
SELECT COALESCE(score, 1) AS m, COUNT(*) AS n FROM people GROUP BY COALESCE(score, 1) ORDER BY m

-- a key where it is not null
SELECT kind AS k, SUM(minutes) AS s FROM visits WHERE kind IS NOT NULL GROUP BY kind

-- a label that says whether the key is null
SELECT kind, CASE WHEN kind IS NULL THEN 'Null' ELSE 'NotNull' END AS label, COUNT(*) AS n FROM visits GROUP BY kind

-- a number that says whether the key is null
SELECT kind, CASE WHEN kind IS NULL THEN 0 ELSE 1 END AS label, COUNT(*) AS n FROM visits GROUP BY kind

-- a label with converted constants
SELECT kind, CASE WHEN kind IS NULL THEN CAST('A' AS VARCHAR(10)) ELSE CAST('B' AS VARCHAR(10)) END AS label, COUNT(*) AS n FROM visits GROUP BY kind

-- text like a pattern without regard to case
SELECT COUNT(*) AS n FROM people WHERE note ILIKE '%LA%'

-- text like a pattern
SELECT COUNT(*) AS n FROM people WHERE note LIKE '%L%'

-- rows
SELECT COUNT(*) AS n FROM people

-- deviation
SELECT STDDEV(schooling) AS s FROM people

-- variance
SELECT VARIANCE(schooling) AS s FROM people

-- a sum of a product and a logarithm
-- plain: SELECT SUM(schooling * age + 4 + LOG10(age + 2)) AS s FROM people
SELECT SUM(schooling * age + 4 + LOG(age + 2)) AS s FROM people

-- sum by two keys, ordered
SELECT age, sex, SUM(schooling) AS s FROM people GROUP BY age, sex ORDER BY age DESC, sex

-- five statistics between bounds
SELECT COUNT(*) AS a, SUM(schooling) AS b, AVG(schooling) AS c, VARIANCE(schooling) AS d, STDDEV(schooling) AS e FROM people WHERE schooling > 0 AND schooling < 10

-- variance by key, key last
SELECT VARIANCE(schooling) AS v, region FROM people GROUP BY region

-- sums with a condition that excludes a key
SELECT sex, SUM(income / 10000) AS a, SUM(schooling) AS b FROM people GROUP BY sex HAVING NOT (sex = 'f') ORDER BY a DESC LIMIT 10

-- a condition that names a key
SELECT region, SUM(income / 100000) AS a, SUM(schooling) AS b FROM people GROUP BY region HAVING region = 'east'

-- one plus a mean
SELECT 1 + AVG(age) AS m FROM people

-- an alias without AS
SELECT SUM(age) s FROM people p

-- by a logarithm of a CASE
-- gap: keys_not_finite | Keys that are few but not listed
SELECT SUM(schooling) AS s FROM people GROUP BY LOG(CASE WHEN age < 50 THEN 50 ELSE 1 END)

-- by a CASE that is not shown
SELECT COUNT(schooling) AS s FROM people GROUP BY CASE WHEN age < 50 THEN 50 ELSE 1 END

-- by a CASE that is shown
SELECT CASE WHEN age < 50 THEN 50 ELSE 1 END AS k, COUNT(schooling) AS s FROM people GROUP BY CASE WHEN age < 50 THEN 50 ELSE 1 END

-- the same sum twice with a condition
SELECT age, SUM(schooling) AS a, SUM(schooling) AS b FROM people GROUP BY age HAVING SUM(schooling) > 1 ORDER BY age

-- alias of a key, ordered by it
SELECT age AS a, SUM(schooling) AS s FROM people GROUP BY a ORDER BY a

-- by a key and a CASE, ordered by the sum
-- ties
SELECT SUM(age) AS s FROM people GROUP BY region, CASE WHEN age > 50 THEN 1 ELSE 0 END ORDER BY s

-- a CASE shown and a key not shown
-- ties
SELECT CASE WHEN age > 50 THEN 1 ELSE 0 END AS k, SUM(age) AS s FROM people GROUP BY region, CASE WHEN age > 50 THEN 1 ELSE 0 END ORDER BY s

-- by the alias of a CASE
SELECT CASE WHEN age > 50 THEN 1 ELSE 0 END AS k, SUM(age) AS s FROM people GROUP BY k ORDER BY s

-- a sum of a CASE beside a sum
SELECT SUM(CASE WHEN age > 50 THEN 1 ELSE 0 END) AS a, SUM(age) AS b FROM people

-- twice a sum of a CASE
SELECT (2 * (SUM(CASE WHEN age > 50 THEN 1 ELSE 0 END))) AS a FROM people

-- COUNT(1)
SELECT schooling, COUNT(1) AS n FROM people GROUP BY schooling

-- a column counted by another
SELECT schooling, COUNT(age) AS n FROM people GROUP BY schooling

-- three aliases with spaces, and a cosine
SELECT age AS "my age", 3 * COS(COUNT(*)) AS c, AVG(schooling) AS "my mean" FROM people GROUP BY "my age" ORDER BY "my age", "my mean"

-- key between two numbers
SELECT age, COUNT(*) AS n FROM people WHERE age BETWEEN 20 AND 30 GROUP BY age

-- key not between two numbers
SELECT age, COUNT(*) AS n FROM people WHERE age NOT BETWEEN 20 AND 30 GROUP BY age

-- key in a list
SELECT age, COUNT(*) AS n FROM people WHERE age IN (20, 30, 40, 50) GROUP BY age

-- key not in a list
SELECT region, COUNT(*) AS n FROM people WHERE region NOT IN ('north', 'west') GROUP BY region

-- column in a list of texts
SELECT COUNT(*) AS n FROM people WHERE region IN ('north', 'west')

-- a constant outside the declared list
-- refused: value_not_listed | no row can have it; it is a slip
SELECT COUNT(*) AS n FROM people WHERE region IN ('north', 'nowhere', 'atlantis')

-- columns qualified by the table and not
SELECT SUM(people.age) AS a, SUM(age) AS b FROM people

-- columns qualified by an alias and not
SELECT t.sex AS a, SUM(t.age) AS b, SUM(age) AS c FROM people AS t GROUP BY t.sex

-- quoted alias of a table
SELECT COUNT("t"."age") AS "n" FROM people AS "t"

-- a text label by the number
SELECT age, 3 * COUNT(*) AS a, CASE WHEN COUNT(*) > 10 THEN 'large' ELSE 'small' END AS b, COUNT(*) AS c FROM people GROUP BY age

-- a text label by the key
SELECT age, CASE WHEN age IN (20, 30, 40, 50) THEN 'decade' ELSE '-' END AS k, COUNT(*) AS n FROM people GROUP BY age

-- a number label by a range of the key
SELECT age, CASE WHEN age BETWEEN 10 AND 40 THEN 0 ELSE 1 END AS k, COUNT(*) AS n FROM people GROUP BY age

-- a number label by a range of the number
SELECT age, CASE WHEN COUNT(*) BETWEEN 0 AND 10 THEN 0 ELSE 1 END AS k, COUNT(*) AS n FROM people GROUP BY age

-- a choice between two sums
SELECT CASE WHEN SUM(age) < 10 THEN SUM(age) ELSE SUM(schooling) END AS s FROM people

-- a choice among three numbers
SELECT CASE WHEN SUM(age) > 90 THEN 90 WHEN SUM(age) < 10 THEN 10 ELSE 0 END AS s FROM people

-- a sum capped
SELECT CASE WHEN SUM(age) > 90 THEN 90 ELSE SUM(age) END AS s FROM people

-- a choice between a number and a mean
SELECT CASE WHEN SUM(age) = 5 THEN 5 ELSE 4 * AVG(age) END AS s FROM people

-- limit and offset without an order
-- plain: SELECT age, COUNT(*) AS n FROM people GROUP BY age ORDER BY age LIMIT 20 OFFSET 1
SELECT age, COUNT(*) AS n FROM people GROUP BY age LIMIT 20 OFFSET 1

-- offset alone
SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling ORDER BY schooling OFFSET 5

-- a scaled sum where the column has one value
SELECT SUM(100 * age) AS s FROM people WHERE age = 40

-- a negative scaled sum
SELECT SUM(-100 * age) AS s FROM people WHERE age = 40

-- a mean of sums of groups
SELECT AVG(s) AS m FROM (SELECT SUM(schooling) AS s FROM people GROUP BY age) AS q

-- a mean of sums of groups, column qualified
SELECT AVG(s) AS m FROM (SELECT SUM(t.schooling) AS s FROM people AS t GROUP BY age) AS q

-- CTEs of answers, counted again
WITH a AS (SELECT age, region, COUNT(*) AS n FROM people GROUP BY age, region ORDER BY age, region), b AS (SELECT 2 * age AS two, region, n FROM a) SELECT two, COUNT(*) AS m FROM b GROUP BY two ORDER BY two LIMIT 15

-- a CTE of answers, filtered
WITH s AS (SELECT ward, SUM(cost) AS total, AVG(minutes) AS m FROM visits WHERE cost > 0 AND cost < 100 GROUP BY ward) SELECT * FROM s WHERE total <> 1

-- a CTE of answers, ranked
-- ties
WITH r AS (SELECT item, COUNT(*) AS n FROM orders GROUP BY item) SELECT item FROM r ORDER BY n

-- a standardised mean with a CTE of answers
-- gap: unsupported_sql | Joins of other kinds
WITH a AS (SELECT AVG(price) AS m, STDDEV(price) AS s FROM orders WHERE price > 1.0) SELECT AVG((price - m) / s) AS z FROM orders CROSS JOIN a WHERE s > 1.0

-- a mean above the least
-- gap: unsupported_sql | Joins of other kinds
WITH a AS (SELECT MIN(price) AS low, MAX(price) AS high FROM orders WHERE price > 1.0) SELECT AVG(price - low) AS m FROM orders CROSS JOIN a

-- a sum of several roots of the rows
SELECT SUM(a) AS x, SUM(b) AS y, SUM(c) AS z FROM (SELECT LN(score + 1) AS a, SQRT(score) AS b, 1 / (score + 1) AS c FROM people) AS q

-- rounding in four ways
SELECT SUM(CEIL(3 * warmth)) AS a, SUM(FLOOR(3 * warmth)) AS b, SUM(TRUNC(3 * warmth)) AS c, SUM(ROUND(3 * warmth)) AS d FROM visits

-- parts of a date
SELECT SUM(EXTRACT(YEAR FROM joined)) AS y, SUM(EXTRACT(WEEK FROM joined)) AS w, SUM(EXTRACT(DOW FROM joined)) AS d FROM people

-- seconds since 1970
SELECT SUM(EXTRACT(EPOCH FROM joined)) AS e FROM people

-- by parts of a date
SELECT EXTRACT(YEAR FROM joined) AS y, EXTRACT(MONTH FROM joined) AS m, COUNT(*) AS n FROM people GROUP BY y, m

-- a mean of a converted quotient
SELECT SUM(CAST(income AS FLOAT) / 100000.0) AS s FROM people WHERE income > 2231.0 AND income < 4356.0

-- a sum of a CASE between bounds
SELECT SUM(CASE WHEN age > 50 THEN 1 ELSE 0 END) AS s FROM people WHERE age > 20 AND age < 55

-- values of an expression, by a key in a list
SELECT schooling, COUNT(ABS(10 * schooling + age)) AS n FROM people WHERE age > -0.1 AND schooling IN (1, 2, 3) GROUP BY schooling

-- a join of orders with their lines
SELECT COUNT(orders.order_id) AS n, SUM(worth) AS s, AVG(worth) AS m FROM orders JOIN lines ON orders.order_id = lines.order_id

-- a join with the person by a foreign key, by a key of people
SELECT region, COUNT(*) AS n FROM orders o JOIN people u ON (o.pid = u.pid) GROUP BY region ORDER BY region

-- a left join of orders with their lines, filtered
SELECT COUNT(*) AS n FROM orders LEFT JOIN lines ON orders.order_id = lines.order_id WHERE worth > 10

-- means by a public column
SELECT shelf, AVG(price) AS m FROM orders INNER JOIN goods ON orders.item = goods.item GROUP BY shelf

-- numbers by two public columns
SELECT g.item, g.shelf, COUNT(*) AS n FROM goods g INNER JOIN orders t ON g.item = t.item GROUP BY g.item, g.shelf

-- numbers of a joined table
SELECT COUNT(*) AS n FROM orders t INNER JOIN goods p USING (item)

-- numbers of a join on the person
SELECT COUNT(*) AS n FROM visits AS t INNER JOIN people p USING (pid)

-- a mean by a quantity over a join
SELECT quantity, AVG(price) AS m FROM people AS d JOIN orders AS t ON d.pid = t.pid WHERE quantity > 0 AND price > 0 AND price < 50 GROUP BY quantity

-- different buyers
SELECT COUNT(DISTINCT pid) AS n FROM orders

-- numbers by public item and shelf in a month
-- empty groups
SELECT t.item, p.shelf, COUNT(*) AS n FROM orders t INNER JOIN goods p ON t.item = p.item WHERE t.day > DATE '2024-01-01' AND t.day < DATE '2024-02-01' GROUP BY t.item, p.shelf

-- numbers by public item and shelf, dates as texts
-- empty groups
SELECT t.item, p.shelf, COUNT(*) AS n FROM orders t INNER JOIN goods p ON t.item = p.item WHERE t.day < CAST('2024-02-01' AS DATE) GROUP BY t.item, p.shelf

-- keys of two columns alone
SELECT sex, region FROM people GROUP BY sex, region

-- a natural join on the person
SELECT COUNT(*) AS n FROM people NATURAL JOIN (SELECT pid, minutes FROM visits) AS v

-- a join of two CTEs with USING
WITH a AS (SELECT pid, age, score FROM people WHERE age > 25), b AS (SELECT pid, minutes FROM visits WHERE minutes < 70) SELECT COUNT(*) AS n, SUM(score) AS s FROM a INNER JOIN b USING (pid)

-- a left join of two CTEs with USING
WITH a AS (SELECT pid, age, score FROM people WHERE age > 25), b AS (SELECT pid, minutes FROM visits WHERE minutes < 70) SELECT COUNT(*) AS n, SUM(minutes) AS s FROM a LEFT JOIN b USING (pid)

-- a right join of two CTEs with USING
WITH a AS (SELECT pid, age, score FROM people WHERE age > 25), b AS (SELECT pid, minutes FROM visits WHERE minutes < 70) SELECT COUNT(*) AS n, SUM(score) AS s FROM a RIGHT JOIN b USING (pid)

-- a full join of two CTEs with USING
-- gap: unsupported_sql | Joins of other kinds
WITH a AS (SELECT pid, age, score FROM people WHERE age > 25), b AS (SELECT pid, minutes FROM visits WHERE minutes < 70) SELECT COUNT(*) AS n, SUM(score) AS s FROM a FULL JOIN b USING (pid)

-- a union of two projections
SELECT COUNT(*) AS n, SUM(a) AS s FROM (SELECT 1 * schooling AS a FROM people UNION ALL SELECT 2 * quantity AS a FROM orders) AS q

-- a union that removes what is double
SELECT COUNT(*) AS n FROM (SELECT schooling AS a FROM people UNION SELECT quantity AS a FROM orders) AS q

-- a union of CTEs
WITH a AS (SELECT 0.1 * schooling AS x, 1 * age AS y FROM people), b AS (SELECT 0.1 * quantity AS x, 2 * quantity AS y FROM orders) SELECT SUM(x) AS s, SUM(y) AS t FROM (SELECT * FROM a UNION ALL SELECT * FROM b) AS q

-- a subquery with a new name for everything
SELECT COUNT(*) AS n FROM (SELECT * FROM people) AS cte

-- a CTE with a new name for everything
WITH cte AS (SELECT * FROM people) SELECT COUNT(*) AS n FROM cte

-- a CTE with names of columns
WITH cte (a, b) AS (SELECT age, schooling FROM people) SELECT SUM(a) AS x, SUM(b) AS y FROM cte

-- VALUES joined
SELECT COUNT(*) AS n FROM people JOIN (VALUES (3), (4)) AS v (a) ON people.schooling = v.a

-- VALUES crossed
SELECT a, COUNT(*) AS n FROM people CROSS JOIN (VALUES (3), (4)) AS v (a) GROUP BY a

-- sums of absolute sums of person and key
SELECT SUM(s) AS a FROM (SELECT pid, ABS(SUM(cost)) AS s FROM visits GROUP BY pid) AS q

-- roots of sums of squares of person and key
SELECT SUM(sqrt(s)) AS a FROM (SELECT pid, SUM(cost * cost) AS s FROM visits GROUP BY pid) AS q

-- squares of sums of person and key
SELECT ward, SUM(s) AS a FROM (SELECT pid, ward, POWER(SUM(minutes), 2) AS s FROM visits GROUP BY pid, ward) AS q GROUP BY ward

-- features of lines by order's person
SELECT SUM(s) AS a FROM (SELECT orders.pid, SUM(worth) AS s FROM orders JOIN lines ON orders.order_id = lines.order_id GROUP BY orders.pid) AS q

-- a sum of prices with different ones and a condition
SELECT item, SUM(price) AS a, COUNT(DISTINCT quantity) AS b FROM orders GROUP BY item HAVING COUNT(*) > 2

-- the largest key with its sum
SELECT item, MAX(quantity) AS m, SUM(price) AS s FROM orders GROUP BY item

-- an absolute sum by key
SELECT item, ABS(SUM(price)) AS s FROM orders GROUP BY item ORDER BY item

-- a root of a squared sum by key
SELECT item, SQRT(POWER(SUM(price), 2)) AS s FROM orders GROUP BY item ORDER BY item

-- constants and sums without keys shown
SELECT 0.0 AS z, SUM(price) AS a, SUM(price) AS b FROM orders GROUP BY item

-- a condition on the whole
SELECT SUM(schooling) AS s FROM people HAVING COUNT(schooling) > 4

-- a condition on three things
SELECT SUM(score) AS s FROM people GROUP BY schooling HAVING COUNT(score) > 4 AND schooling > 4 AND s > 6

-- a condition on the key alone
SELECT SUM(score) AS s FROM people GROUP BY schooling HAVING schooling > 10

-- by three times a key
SELECT 3 * schooling AS k, COUNT(*) AS n FROM people GROUP BY 3 * schooling

-- a filter on a converted column
SELECT COUNT(*) AS n FROM people WHERE CAST(schooling AS TEXT) = '8' AND CAST(joined AS TEXT) LIKE '2021%'

-- a truth value of a constant
SELECT COUNT(*) AS n FROM people WHERE CAST('true' AS BOOLEAN)

-- a filter that compares constants
SELECT COUNT(*) AS n FROM people WHERE (1) > (2)

-- a null test as a key
SELECT NOT (score IS NULL) AS known, COUNT(*) AS n FROM people GROUP BY known

-- COALESCE of one argument
SELECT SUM(COALESCE(age)) AS s FROM people

-- base64 of a key
-- refused: unsupported_sql | not on the allow-list of three engines
SELECT TO_BASE64(region) AS k, COUNT(*) AS n FROM people GROUP BY k

-- rows of a table
-- refused: unsupported_sql | rows of people are never released
SELECT * FROM visits

-- rows of a table, limited
-- refused: unsupported_sql | rows of people are never released
SELECT * FROM visits LIMIT 10

-- rows of a table, TOP
-- refused: unsupported_sql | rows of people are never released
SELECT TOP (10) * FROM visits

-- rows of a join in an order
-- refused: unsupported_sql | rows of people are never released
WITH a AS (SELECT pid, minutes FROM visits), b AS (SELECT * FROM people) SELECT * FROM a INNER JOIN b ON a.pid = b.pid ORDER BY a.minutes LIMIT 17 OFFSET 5

-- a CASE of rows
-- refused: not_grouped | rows of people are never released
SELECT CASE schooling WHEN 5 THEN 0 ELSE schooling END FROM people

-- capitals of rows
-- refused: not_grouped | rows of people are never released
SELECT UPPER(name) FROM people LIMIT 5

-- hashes of rows
-- refused: unsupported_sql | rows of people are never released
SELECT MD5(name) FROM people LIMIT 10

-- texts of rows joined
-- refused: not_grouped | rows of people are never released
SELECT CONCAT(age, sex, region) FROM people LIMIT 11

-- lengths of rows
-- refused: not_grouped | rows of people are never released
SELECT CHAR_LENGTH(name) AS l FROM people LIMIT 1

-- rows of a left join
-- refused: unsupported_sql | rows of people are never released
SELECT * FROM orders LEFT JOIN lines ON orders.order_id = lines.order_id WHERE worth > 10

-- rows of a union
-- refused: unsupported_sql | rows of people are never released
SELECT 1 * schooling FROM people UNION SELECT 1 * quantity FROM orders

-- rows of a union of CTEs
-- refused: unsupported_sql | rows of people are never released
WITH a AS (SELECT schooling, age FROM people), b AS (SELECT quantity, price FROM orders) SELECT * FROM a UNION SELECT * FROM b

-- rows of a CTE
-- refused: unsupported_sql | rows of people are never released
WITH a AS (SELECT * FROM people) SELECT * FROM a

-- rows of a subquery
-- refused: unsupported_sql | rows of people are never released
SELECT * FROM (SELECT * FROM people) AS q

-- different pairs of rows with reals
-- refused: keys_not_finite | incomes of people are never released
SELECT DISTINCT age, income FROM people

-- pairs of keys with reals
-- refused: keys_not_finite | incomes of people are never released
SELECT age, income FROM people GROUP BY age, income

-- one row a person with a number
-- refused: key_is_identifier | a group of one person
SELECT pid, COUNT(*) FROM people GROUP BY pid

-- one row a person with a number, CTE
-- refused: key_is_identifier | a group of one person
WITH a AS (SELECT COUNT(*) AS n FROM visits GROUP BY pid) SELECT * FROM a

-- one row a person with a mean
-- refused: key_is_identifier | a group of one person
SELECT t.pid, ward, AVG(minutes) FROM people AS d JOIN visits AS t ON d.pid = t.pid GROUP BY t.pid, ward

-- one row an order
-- refused: key_is_identifier | a group of one order belongs to one person
SELECT order_id, SUM(worth) FROM lines GROUP BY order_id

-- one row an order, alias
-- refused: key_is_identifier | a group of one order belongs to one person
SELECT order_id AS o, SUM(worth) AS s FROM lines GROUP BY o

-- identifiers of a join
-- refused: not_grouped | people are never listed
SELECT d.pid FROM people AS d JOIN visits AS t ON (d.pid = t.pid)

-- prices of some orders
-- refused: not_grouped | rows of people are never released
SELECT order_id, worth FROM lines WHERE order_id IN (1001, 1002, 1003)

-- random beside rows
-- refused: unsupported_sql | rows of people are never released
SELECT RANDOM(), * FROM visits

-- random beside a sum
-- refused: unsupported_sql | chance other than ours
SELECT RANDOM() AS r, SUM(price) AS s FROM orders GROUP BY item

-- rows chosen by chance
-- refused: unsupported_sql | chance other than ours
SELECT COUNT(*) AS n FROM visits WHERE RANDOM() < 0.5

-- a join of a table with itself on a key
-- refused: private_join | one person's row meets many others
SELECT COUNT(*) AS n FROM orders a INNER JOIN orders b ON a.item = b.item

-- sums of different values over a join on a key
-- refused: private_join | one person's row meets many others
WITH a AS (SELECT * FROM people), b AS (SELECT * FROM people) SELECT COUNT(*) AS n FROM a JOIN b ON a.income = b.income

-- a logarithm, NULL at nought
-- plain: SELECT SUM(CASE WHEN price > 0 THEN LOG10(price) END) AS s FROM orders
SELECT SUM(LOG(price)) AS s FROM orders

-- a quotient, NULL at nought
-- plain: SELECT SUM(CASE WHEN score <> 0 THEN 1 / score END) AS s FROM people
SELECT SUM(1 / score) AS s FROM people

-- a catalogue table
-- refused: unknown_table | no such table
SELECT COUNT(*) FROM pg_catalog.pg_tables WHERE schemaname = 'public'

-- a table of the information schema
-- refused: unknown_table | no such table
SELECT table_name FROM information_schema.tables
