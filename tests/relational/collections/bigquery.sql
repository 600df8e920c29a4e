--- Shapes of the examples in BigQuery's documentation of the differential privacy clause and its functions, written anew for our tables.

-- mean of a quantity by item
-- plain: SELECT item, AVG(m) AS a FROM (SELECT pid, item, AVG(quantity) AS m FROM orders GROUP BY pid, item) GROUP BY item
-- within: 0.000001
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, AVG(quantity, contribution_bounds_per_group => (0, 100)) AS a FROM orders GROUP BY item

-- mean of a quantity by item, groups limited
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, max_groups_contributed=3, privacy_unit_column=pid) item, AVG(quantity) AS a FROM orders GROUP BY item

-- mean of a column by key, one row a person
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) region, AVG(age, contribution_bounds_per_group => (0, 100)) AS a FROM people GROUP BY region

-- mean with a large price
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=100000, delta=.01, max_groups_contributed=2, privacy_unit_column=pid) region, AVG(age, contribution_bounds_per_group => (0, 100)) AS a FROM people GROUP BY region

-- mean without a delta
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, privacy_unit_column=pid) region, AVG(age) AS a FROM people GROUP BY region

-- rows by item
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, COUNT(*, contribution_bounds_per_group => (0, 100)) AS times FROM orders GROUP BY item

-- rows by item, plain count
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, COUNT(*) AS times FROM orders GROUP BY item

-- values by item
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, COUNT(item, contribution_bounds_per_group => (0, 100)) AS times FROM orders GROUP BY item

-- sum by item
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, SUM(quantity, contribution_bounds_per_group => (0, 100)) AS s FROM orders GROUP BY item

-- sum by item, bounds that cut
-- plain: SELECT item, SUM(least(s, 5)) AS s FROM (SELECT pid, item, SUM(quantity) AS s FROM orders GROUP BY pid, item) GROUP BY item
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, SUM(quantity, contribution_bounds_per_group => (0, 5)) AS s FROM orders GROUP BY item

-- sum by item, declared bounds
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, SUM(quantity) AS s FROM orders GROUP BY item

-- median by item
-- plain: SELECT item, quantile_cont(quantity, 0.5) AS q FROM orders GROUP BY item
-- within: 1
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, PERCENTILE_CONT(quantity, 0.5, contribution_bounds_per_row => (0, 100)) AS q FROM orders GROUP BY item

-- the third decile
-- plain: SELECT quantile_cont(price, 0.3) AS q FROM orders
-- within: 0.5
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) PERCENTILE_CONT(price, 0.3, contribution_bounds_per_row => (0, 60)) AS q FROM orders

-- quantiles by item
-- plain: SELECT item, [min(quantity), quantile_cont(quantity, 0.5), max(quantity)] AS q FROM orders GROUP BY item
-- within: 1
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, APPROX_QUANTILES(quantity, 2, contribution_bounds_per_row => (1, 12)) AS q FROM orders GROUP BY item

-- variance by item
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, VAR_POP(quantity, contribution_bounds_per_row => (0, 100)) AS v FROM orders GROUP BY item

-- deviation by item
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, STDDEV_POP(quantity, contribution_bounds_per_row => (0, 100)) AS v FROM orders GROUP BY item

-- people by item
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, COUNT(DISTINCT pid) AS n FROM orders GROUP BY item

-- people by item as one row each
-- plain: SELECT item, COUNT(DISTINCT pid) AS n FROM orders GROUP BY item
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, COUNT(*, contribution_bounds_per_group => (0, 1)) AS n FROM orders GROUP BY item

-- a filter before the clause
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, COUNT(*) AS n FROM orders WHERE paid GROUP BY item

-- a join with a public table
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) shelf, COUNT(*) AS n FROM orders JOIN goods ON orders.item = goods.item GROUP BY shelf

-- two private tables joined on the person
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=people.pid) region, COUNT(*) AS n FROM people INNER JOIN orders ON people.pid = orders.pid GROUP BY region

-- public groups of a lookup
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid, group_selection_strategy=PUBLIC_GROUPS) item, AVG(quantity) AS a FROM orders RIGHT OUTER JOIN (SELECT DISTINCT item FROM goods) USING (item) GROUP BY item

-- public groups as constants
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid, group_selection_strategy=PUBLIC_GROUPS, max_groups_contributed=3) item, COUNT(*) AS n FROM orders RIGHT OUTER JOIN (SELECT DISTINCT item FROM UNNEST(['tea', 'ink', 'rope']) AS u(item)) USING (item) GROUP BY item

-- groups nobody listed
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid, max_groups_contributed=1) town, SUM(age) AS s FROM people GROUP BY town

-- different options order
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=.01, privacy_unit_column=pid, epsilon=1000) COUNT(*) AS n FROM people

-- an answer ordered and limited
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, COUNT(*) AS n FROM orders GROUP BY item ORDER BY item LIMIT 3

-- an answer with a condition
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, COUNT(*) AS n FROM orders GROUP BY item HAVING n > 100

-- each person's rows capped by a number in a window
-- plain: SELECT item, COUNT(*) AS n FROM orders GROUP BY item
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY order_id) AS k FROM orders) WHERE k <= 3 GROUP BY item

-- each person's sums by item, clamped, then summed
SELECT item, SUM(LEAST(GREATEST(s, 0), 30)) AS s FROM (SELECT pid, item, SUM(quantity) AS s FROM orders GROUP BY pid, item) GROUP BY item

-- each person's means by item, clamped, then averaged
SELECT item, AVG(m) AS a FROM (SELECT pid, item, AVG(quantity) AS m FROM orders GROUP BY pid, item) GROUP BY item

-- people and their items, once each
SELECT item, COUNT(*) AS n FROM (SELECT DISTINCT pid, item FROM orders) GROUP BY item

-- share of orders that were paid
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, SUM(IF(paid, 1, 0)) / COUNT(*) AS share FROM orders GROUP BY item

-- COUNTIF with the clause
-- plain: SELECT item, COUNT_IF(paid) AS n FROM orders GROUP BY item
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, COUNTIF(paid) AS n FROM orders GROUP BY item

-- by month
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) EXTRACT(MONTH FROM day) AS m, COUNT(*) AS n FROM orders GROUP BY m

-- by month as BigQuery truncates it
-- plain: SELECT date_trunc('month', day) AS m, COUNT(*) AS n FROM orders GROUP BY m
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) DATE_TRUNC(day, MONTH) AS m, COUNT(*) AS n FROM orders GROUP BY m

-- difference of dates as BigQuery writes it
-- plain: SELECT SUM(day - DATE '2024-01-01') AS d FROM orders
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) SUM(DATE_DIFF(day, DATE '2024-01-01', DAY)) AS d FROM orders

-- SAFE_DIVIDE of two sums
-- plain: SELECT item, SUM(price) / SUM(quantity) AS a FROM orders GROUP BY item
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) item, SAFE_DIVIDE(SUM(price), SUM(quantity)) AS a FROM orders GROUP BY item

-- a table in back-quotes with its project
-- plain: SELECT COUNT(*) AS n FROM people
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, privacy_unit_column=pid) COUNT(*) AS n FROM `main.people`

-- texts in double quotes
-- refused: unknown_column | double quotes hold names of columns here
-- plain: SELECT COUNT(*) AS n FROM people WHERE region = 'north'
SELECT COUNT(*) AS n FROM people WHERE region = "north"

-- an aggregation threshold
-- refused: sql_syntax | a threshold alone is not differentially private
-- plain: SELECT item, COUNT(*) AS n FROM orders GROUP BY item
SELECT WITH AGGREGATION_THRESHOLD OPTIONS(threshold=10, privacy_unit_column=pid) item, COUNT(*) AS n FROM orders GROUP BY item

-- a view made by the analyst that names the person
-- refused: unsupported_sql | the owner says whose privacy it is
CREATE OR REPLACE VIEW mine OPTIONS (privacy_policy='{}') AS (SELECT * FROM people)

-- the person in the output
-- refused: key_is_identifier | people are never listed
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10, delta=.01, privacy_unit_column=pid) pid, COUNT(*) AS n FROM orders GROUP BY pid

-- rows with the clause
-- refused: unsupported_sql | rows of people are never released
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10, delta=.01, privacy_unit_column=pid) * FROM orders

-- a sample in front of the clause
-- refused: unsupported_sql | sampling earns nothing here
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10, delta=.01, privacy_unit_column=pid) item, COUNT(*) AS n FROM orders TABLESAMPLE SYSTEM (10 PERCENT) GROUP BY item

-- DISTINCT beside the clause
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) DISTINCT COUNT(*) AS n FROM people

-- a mean of a private column that nobody bounded
-- refused: column_not_declared | no bounds
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10, delta=.01, privacy_unit_column=pid) AVG(visit_id) AS a FROM visits

-- keys nobody listed without a delta
-- refused: keys_need_delta | a key must not be named for one person
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10, privacy_unit_column=pid) town, COUNT(*) AS n FROM people GROUP BY town

-- bounds that nobody declared, given in the question
-- plain: SELECT SUM(visit_id) AS s FROM visits
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=.01, privacy_unit_column=pid) SUM(visit_id, contribution_bounds_per_row => (0, 5000)) AS s FROM visits
