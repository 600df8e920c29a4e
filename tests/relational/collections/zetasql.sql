--- Shapes of the analyser and compliance tests of ZetaSQL (GoogleSQL) for differential privacy and anonymization, written anew for our tables.

-- rows with the clause
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people

-- rows with the clause in small letters
select with differential_privacy options (epsilon=1000, delta=1e-6) count(*) as n from people

-- values
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(score) AS n FROM people

-- a sum
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(age) AS s FROM people

-- a sum of reals
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(income) AS s FROM people

-- a mean of whole numbers
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) AVG(age) AS a FROM people

-- a mean of reals
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) AVG(income) AS a FROM people

-- a sum and the largest
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(age) AS s, MAX(age) AS m FROM people

-- bounds per group on a count
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*, contribution_bounds_per_group => (0, 100)) AS n FROM visits

-- bounds per group on values
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(kind, contribution_bounds_per_group => (0, 10)) AS n FROM visits

-- bounds per group on a sum
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(minutes, contribution_bounds_per_group => (0, 1000)) AS s FROM visits

-- bounds per group that cut sums
-- plain: SELECT SUM(least(greatest(s, 20), 100)) AS s FROM (SELECT pid, SUM(minutes) AS s FROM visits GROUP BY pid)
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(minutes, contribution_bounds_per_group => (20, 100)) AS s FROM visits

-- bounds per group that cut counts
-- plain: SELECT SUM(least(s, 2)) AS n FROM (SELECT pid, COUNT(*) AS s FROM visits GROUP BY pid)
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*, contribution_bounds_per_group => (0, 2)) AS n FROM visits

-- bounds per group that leave one row of each person
-- plain: SELECT COUNT(DISTINCT pid) AS n FROM visits
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*, contribution_bounds_per_group => (0, 1)) AS n FROM visits

-- several aggregates with bounds by key
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) ward, COUNT(*, contribution_bounds_per_group => (0, 9)) AS a, COUNT(kind, contribution_bounds_per_group => (0, 10)) AS b, SUM(minutes, contribution_bounds_per_group => (0, 900)) AS c FROM visits GROUP BY ward

-- bounds per row on a sum of people
-- plain: SELECT SUM(least(greatest(age, 20), 40)) AS s FROM people
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(age, contribution_bounds_per_row => (20, 40)) AS s FROM people

-- bounds per group on a mean of people
-- plain: SELECT AVG(least(greatest(age, 20), 40)) AS a FROM people
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) AVG(age, contribution_bounds_per_group => (20, 40)) AS a FROM people

-- bounds per group on a sum of people
-- plain: SELECT SUM(least(greatest(score, 2), 3)) AS s FROM people WHERE score IS NOT NULL
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(score, contribution_bounds_per_group => (2, 3)) AS s FROM people

-- bounds per group on a mean and a count
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) AVG(schooling, contribution_bounds_per_group => (1, 12)) AS a, COUNT(income, contribution_bounds_per_group => (0, 10)) AS n FROM people

-- bounds as a STRUCT
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(income, contribution_bounds_per_group => STRUCT(0, 8000)) AS s FROM people

-- variance of whole numbers
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) VAR_POP(age) AS v FROM people

-- variance and sum
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) VAR_POP(income) AS v, SUM(income) AS s FROM people

-- two variances
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) VAR_POP(age) AS v, VAR_POP(income) AS w FROM people

-- variance with bounds per row
-- plain: SELECT VAR_POP(least(greatest(age, 20), 40)) AS v FROM people
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) VAR_POP(age, contribution_bounds_per_row => (20, 40)) AS v FROM people

-- deviation
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) STDDEV_POP(age) AS v FROM people

-- deviation with bounds per row
-- plain: SELECT STDDEV_POP(least(greatest(age, 20), 40.5)) AS v FROM people
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) STDDEV_POP(age, contribution_bounds_per_row => (20, 40.5)) AS v FROM people

-- two deviations
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) STDDEV_POP(age) AS v, STDDEV_POP(income) AS w FROM people

-- deviation and variance
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) STDDEV_POP(income) AS v, VAR_POP(income) AS w FROM people

-- a percentile with two arguments
-- plain: SELECT quantile_cont(age, 0.4) AS q FROM people
-- within: 1
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) PERCENTILE_CONT(age, 0.4) AS q FROM people

-- two percentiles with bounds per row
-- plain: SELECT quantile_cont(least(greatest(age, 20), 50), 0.4) AS p, quantile_cont(least(greatest(income, 100), 4000), 0.6) AS q FROM people
-- within: 20
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) PERCENTILE_CONT(age, 0.4, contribution_bounds_per_row => (20, 50)) AS p, PERCENTILE_CONT(income, 0.6, contribution_bounds_per_row => (100, 4000)) AS q FROM people

-- a percentile compared with a number
-- plain: SELECT abs(quantile_cont(age, 0.5) - 37) < 2 AS near FROM people
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) ABS(PERCENTILE_CONT(age, 0.5) - 37) < 2 AS near FROM people

-- a list of quantiles
-- plain: SELECT [18, 28, 37, 47, 57] AS q
-- within: 1
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) APPROX_QUANTILES(age, 4, contribution_bounds_per_row => (18, 57)) AS q FROM people

-- one of a list of quantiles
-- plain: SELECT 37 AS q
-- within: 1
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) APPROX_QUANTILES(age, 4, contribution_bounds_per_row => (18, 57))[OFFSET(2)] AS q FROM people

-- the length of a list of quantiles
-- gap: unsupported_sql | Arguments of GoogleSQL's aggregates
-- plain: SELECT 6 AS n
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) ARRAY_LENGTH(APPROX_QUANTILES(age, 5, contribution_bounds_per_row => (18, 57))) AS n FROM people

-- counted by key
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n, region FROM people GROUP BY region

-- keys alone
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) region FROM people GROUP BY region

-- keys alone, nobody listed them
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) town FROM people GROUP BY town

-- two keys alone
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) sex, region FROM people GROUP BY sex, region

-- by a key nobody listed
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) town, COUNT(*) AS n FROM people GROUP BY town

-- one plus a count with bounds
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) 1 + COUNT(score, contribution_bounds_per_group => (0, 10)) AS n FROM people

-- a key plus a count
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) schooling + COUNT(score) AS n FROM people GROUP BY schooling

-- a count plus a key
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) + schooling AS n FROM people GROUP BY schooling

-- a count of an expression
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(age + score, contribution_bounds_per_group => (0, 1)) AS n FROM people

-- a count of a constant
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(1) AS n FROM people

-- a count of a text constant
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT('1') AS n FROM people

-- a count of a date constant
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(DATE '2022-11-17') AS n FROM people

-- a count of NULL
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(NULL) AS n FROM people

-- a sum of ones
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(1, contribution_bounds_per_group => (0, 1)) AS n FROM people

-- a sum of ones as reals
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(1.0, contribution_bounds_per_group => (0.0, 1.0)) AS n FROM people

-- a sum of converted ones
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(CAST(1 AS BIGINT), contribution_bounds_per_group => (0, 1)) AS n FROM people

-- a sum of noughts
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(0, contribution_bounds_per_group => (0, 1)) AS n FROM people

-- a sum of minus ones outside its bounds
-- plain: SELECT 0 AS n
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(-1, contribution_bounds_per_group => (0, 1)) AS n FROM people

-- a count and a sum of ones by key
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) schooling, COUNT(*) AS n, SUM(1, contribution_bounds_per_group => (0, 1)) AS m FROM people GROUP BY schooling

-- two counts with bounds
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*, contribution_bounds_per_group => (0, 1)) AS a, COUNT(1, contribution_bounds_per_group => (0, 1)) AS b FROM people

-- people counted by their identifier
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(pid, contribution_bounds_per_group => (0, 1)) AS n FROM people

-- people counted by a renamed identifier
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(b, contribution_bounds_per_group => (0, 1)) AS n FROM (SELECT a AS b FROM (SELECT a FROM (SELECT pid AS a FROM people)))

-- identifiers counted
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(pid) AS n FROM visits

-- different people
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(DISTINCT pid) AS n FROM visits

-- a report in JSON
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(age, report_format => 'JSON') AS s FROM people

-- a report in JSON with bounds
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*, contribution_bounds_per_group => (0, 10), report_format => 'JSON') AS n FROM visits

-- a report of a mean
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) AVG(income, contribution_bounds_per_group => (0, 8000), report_format => 'JSON') AS a FROM people

-- a sum of a choice, with a report
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(IF(score IS NULL, 0, 1), report_format => 'JSON') AS s FROM people

-- no options
-- refused: clause_option | nobody says a price, and there is no default
-- plain: SELECT COUNT(*) AS n FROM people
SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) AS n FROM people

-- options given twice in different case
-- refused: clause_option | which of the two is meant
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, EPSILON=2) COUNT(*) AS n FROM people

-- an option nobody knows
-- refused: clause_option | an option that would be ignored
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, foo=0) COUNT(*) AS n FROM people

-- a price of nought
-- refused: not_positive | no price
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0) COUNT(*) AS n FROM people

-- a price read from a column
-- refused: clause_option | a price that depends on data
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=age) COUNT(*) AS n FROM people

-- a price read from a subquery
-- refused: clause_option | a price that depends on data
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=(SELECT 1)) COUNT(*) AS n FROM people

-- a price as text
-- refused: clause_option | not a number
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon='1') COUNT(*) AS n FROM people

-- a price as a sum
-- refused: clause_option | not a plain number
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1+2) COUNT(*) AS n FROM people

-- a price as a parameter
-- refused: clause_option | parameters are not read
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=@e) COUNT(*) AS n FROM people

-- an infinite price
-- refused: clause_option | no price
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=CAST('+inf' AS DOUBLE)) COUNT(*) AS n FROM people

-- delta of nought
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=0) COUNT(*) AS n FROM people

-- delta of one
-- refused: delta_out_of_range | no protection
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10, delta=1.0) COUNT(*) AS n FROM people

-- groups of each person limited
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, max_groups_contributed=4) ward, COUNT(*) AS n FROM visits GROUP BY ward

-- groups limited to one, one row each
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, max_groups_contributed=1) schooling, COUNT(*) AS n FROM people GROUP BY schooling

-- groups limited to NULL
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, max_groups_contributed=NULL) COUNT(*) AS n FROM people

-- groups limited to nought
-- refused: clause_option | nobody would be counted
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_groups_contributed=0) COUNT(*) AS n FROM people

-- groups limited to a fraction
-- refused: clause_option | not a whole number
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_groups_contributed=2.0) COUNT(*) AS n FROM people

-- groups limited to a sum
-- refused: clause_option | not a plain number
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_groups_contributed=1+2) COUNT(*) AS n FROM people

-- rows limited
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, max_rows_contributed=5) COUNT(*) AS n FROM visits

-- rows limited to NULL
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, max_rows_contributed=NULL) COUNT(*) AS n FROM visits

-- rows limited to nought
-- refused: clause_option | nobody would be counted
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_rows_contributed=0) COUNT(*) AS n FROM people

-- rows limited to more than the owner allows
-- refused: clause_bound | a question cannot widen what was declared
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_rows_contributed=2147483648) COUNT(*) AS n FROM people

-- rows and groups limited
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, max_rows_contributed=5, max_groups_contributed=4) ward, COUNT(*) AS n FROM visits GROUP BY ward

-- the person named
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, privacy_unit_column=pid) COUNT(*) AS n FROM people

-- the person named with the table
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, privacy_unit_column=people.pid) COUNT(*) AS n FROM people

-- the person named with an alias
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, privacy_unit_column=p.pid) COUNT(*) AS n FROM people AS p

-- the person named inside brackets
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, privacy_unit_column=(pid)) COUNT(*) AS n FROM people

-- the person named in a subquery
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, privacy_unit_column=q.pid) COUNT(*) AS n FROM (SELECT * FROM people) AS q

-- the person named in back-quotes
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, privacy_unit_column=`pid`) COUNT(*) AS n FROM people

-- another column as the person
-- refused: clause_unit | the owner says whose privacy it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, privacy_unit_column=age) COUNT(*) AS n FROM people

-- a column that is not there as the person
-- refused: clause_unit | the owner says whose privacy it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, privacy_unit_column=nobody) COUNT(*) AS n FROM people

-- two columns as the person
-- refused: clause_option | the owner says whose privacy it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, privacy_unit_column=(age, pid)) COUNT(*) AS n FROM people

-- a text as the person
-- refused: clause_option | the owner says whose privacy it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, privacy_unit_column='pid') COUNT(*) AS n FROM people

-- a public column as the person
-- refused: clause_unit | the owner says whose privacy it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, privacy_unit_column=wards.ward) COUNT(*) AS n FROM visits JOIN wards USING (ward)

-- groups by a threshold
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=LAPLACE_THRESHOLD) COUNT(*) AS n FROM people

-- groups by a threshold with a limit
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=LAPLACE_THRESHOLD, max_groups_contributed=3) town, COUNT(*) AS n FROM people GROUP BY town

-- public groups
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS) COUNT(*) AS n FROM people

-- public groups by a right join with different values
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS) region, COUNT(*) AS n FROM people RIGHT OUTER JOIN (SELECT DISTINCT region FROM regions) USING (region) GROUP BY region

-- public groups by a right join, limited
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS, max_groups_contributed=3) region, COUNT(*) AS n FROM people RIGHT OUTER JOIN (SELECT DISTINCT region FROM regions) USING (region) GROUP BY region

-- public groups by a left join from them
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS, max_groups_contributed=3) region, COUNT(*) AS n FROM (SELECT DISTINCT region FROM regions) LEFT OUTER JOIN people USING (region) GROUP BY region

-- public groups by grouping them
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS, max_groups_contributed=3) region, COUNT(*) AS n FROM (SELECT region FROM regions GROUP BY region) LEFT OUTER JOIN people USING (region) GROUP BY region

-- public groups by ON and aliases
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS, max_groups_contributed=3) g.region, COUNT(*) AS n FROM people AS p RIGHT OUTER JOIN (SELECT DISTINCT region FROM regions) AS g ON p.region = g.region GROUP BY g.region

-- public groups of two columns
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS, max_groups_contributed=3) item, shelf, COUNT(*) AS n FROM orders RIGHT JOIN (SELECT DISTINCT item, shelf FROM goods) USING (item) GROUP BY item, shelf

-- public groups in a CTE
WITH g AS (SELECT DISTINCT region FROM regions) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS, max_groups_contributed=3) region, COUNT(*) AS n FROM people RIGHT JOIN g USING (region) GROUP BY region

-- public groups from numbers
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS, max_groups_contributed=4) d, COUNT(*) AS n FROM visits RIGHT OUTER JOIN (SELECT DISTINCT d FROM UNNEST([1, 2, 3, 4, 5, 6, 7]) AS u(d)) AS g ON isodow(visits.day) = g.d GROUP BY d

-- public groups, a sum
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS, max_groups_contributed=3) region, SUM(age) AS s FROM people RIGHT JOIN (SELECT DISTINCT region FROM regions) USING (region) GROUP BY region

-- public groups with a group that nobody is in
-- plain: SELECT w.ward, COUNT(pid) AS n FROM visits v RIGHT JOIN wards w ON v.ward = w.ward GROUP BY w.ward
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS) w.ward, COUNT(*) AS n FROM visits v RIGHT OUTER JOIN (SELECT DISTINCT ward FROM wards) w ON v.ward = w.ward GROUP BY w.ward

-- public groups filtered by their start
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS) region, COUNT(*) AS n FROM people RIGHT OUTER JOIN (SELECT DISTINCT region FROM regions) USING (region) GROUP BY region HAVING STARTS_WITH(region, 'n')

-- public groups chosen before the join
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS) region, COUNT(*) AS n FROM (SELECT pid, region FROM people WHERE age > 20) RIGHT OUTER JOIN (SELECT DISTINCT region FROM regions WHERE STARTS_WITH(region, 's')) USING (region) GROUP BY region

-- public groups around an answer
-- plain: SELECT region, COUNT(*) AS n FROM people GROUP BY region
SELECT region, n FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS) region, COUNT(*) AS n FROM people RIGHT OUTER JOIN (SELECT DISTINCT region FROM regions) USING (region) GROUP BY region)

-- groups by a strategy nobody knows
-- refused: clause_option | an option that would be ignored
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, group_selection_strategy=UNDEFINED_STRATEGY) COUNT(*) AS n FROM people

-- fewest people of a group
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, min_privacy_units_per_group=2) town, COUNT(*) AS n FROM people GROUP BY town

-- a price for each aggregate
-- gap: unsupported_sql | Arguments of GoogleSQL's aggregates
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) region, COUNT(*, epsilon => 500) AS n, SUM(age, epsilon => 500) AS s FROM people GROUP BY region

-- a join on the person
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*, contribution_bounds_per_group => (0, 100)) AS n FROM people a INNER JOIN visits b ON a.pid = b.pid

-- a join of a table with itself on the person
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*, contribution_bounds_per_group => (0, 100)) AS n FROM visits a INNER JOIN visits b ON a.pid = b.pid

-- a join with USING
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a INNER JOIN visits b USING (pid)

-- a comma join on the person
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a, visits b WHERE a.pid = b.pid

-- a comma join on the person, one alias
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits, visits b WHERE visits.pid = b.pid

-- a join on the person and more
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a INNER JOIN visits b ON (a.minutes = b.minutes AND a.ward = b.ward AND (a.kind = b.kind AND a.pid = b.pid))

-- a join on the person said twice
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a INNER JOIN visits b ON (a.pid = b.pid AND a.pid = b.pid)

-- a right join with the person on the right
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT b.pid FROM (wards a RIGHT JOIN visits b ON a.ward = b.ward))

-- a right join on the person
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT b.pid FROM (people a RIGHT JOIN visits b ON a.pid = b.pid))

-- a left join with a public table inside
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT a.pid FROM (visits a LEFT JOIN wards b ON a.ward = b.ward))

-- a left join on the person inside
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT a.pid FROM (people a LEFT JOIN visits b ON a.pid = b.pid))

-- a full join on the person
-- gap: unsupported_sql | Joins of other kinds
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM people a FULL OUTER JOIN visits b ON a.pid = b.pid

-- a cross join with a public table
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM visits CROSS JOIN wards

-- a comma join with a public table by its key
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) b.ward, COUNT(*, contribution_bounds_per_group => (0, 100)) AS n FROM visits a, wards b GROUP BY b.ward

-- public tables crossed and then joined
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM ((regions a CROSS JOIN holidays b) CROSS JOIN people c) INNER JOIN orders d ON c.pid = d.pid

-- people's numbers joined on the person
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT COUNT(*) AS a, pid FROM visits GROUP BY pid) a INNER JOIN (SELECT COUNT(*) AS b, pid FROM orders GROUP BY pid) b ON a.pid = b.pid

-- rows joined with people's numbers
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a INNER JOIN (SELECT COUNT(*) AS k, pid FROM orders GROUP BY pid) b ON a.pid = b.pid

-- people's numbers crossed with a public number
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT COUNT(*) AS k, pid FROM visits GROUP BY pid) a, (SELECT COUNT(*) AS m FROM wards) b

-- a cross join with constants
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) x, COUNT(*) AS n FROM people CROSS JOIN UNNEST([1, 2, 3]) AS u(x) GROUP BY x ORDER BY x ASC

-- a cross join with constants, no key
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM people CROSS JOIN UNNEST([1, 2, 3]) AS u(x)

-- the sum of an answer by constants
-- plain: SELECT SUM(n) AS s FROM (SELECT x, COUNT(*) AS n FROM people CROSS JOIN UNNEST([1, 2, 3]) AS u(x) GROUP BY x)
SELECT SUM(n) AS s FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) x, COUNT(*) AS n FROM people CROSS JOIN UNNEST([1, 2, 3]) AS u(x) GROUP BY x)

-- a subquery with one column
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(score, contribution_bounds_per_group => (0, 10)) AS n FROM (SELECT score FROM people)

-- a subquery in a subquery
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(score) AS n FROM (SELECT score FROM (SELECT a.score, a.pid FROM people a))

-- a subquery with an alias in a subquery
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(score) AS n FROM (SELECT b.score FROM (SELECT a.score, a.pid FROM people a) b)

-- people's numbers counted
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT COUNT(*) AS k, pid FROM visits GROUP BY pid)

-- people's numbers counted, identifier not shown
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT COUNT(*) AS k FROM visits GROUP BY pid)

-- people's numbers grouped twice
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT COUNT(*) AS k, y FROM (SELECT x, y FROM (SELECT pid AS x, pid AS y FROM visits) GROUP BY x, y) GROUP BY y)

-- people's numbers by an expression of the identifier
-- gap: key_not_declared | Expressions of the identifier
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT COUNT(*) AS k, 10 + pid AS x FROM visits GROUP BY x)

-- people's numbers with a filter
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT COUNT(*) AS k, pid FROM visits GROUP BY pid) WHERE k > 2

-- a CTE of everything
WITH t AS (SELECT * FROM people) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM t

-- a CTE of a constant for each row
WITH t AS (SELECT 1 AS one FROM people) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT * FROM t)

-- a CTE of identifiers
WITH t AS (SELECT pid FROM people) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT * FROM t)

-- CTEs that are not used
WITH a AS (SELECT * FROM people), b AS (SELECT * FROM visits), c AS (SELECT * FROM wards) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT * FROM a)

-- a CTE of a CTE
WITH a AS (SELECT * FROM people), b AS (SELECT * FROM a) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM b

-- a CTE joined on the person
WITH a AS (SELECT * FROM people) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM a INNER JOIN visits b ON a.pid = b.pid

-- a CTE crossed with a public table
WITH a AS (SELECT * FROM people) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM a CROSS JOIN wards

-- a CTE of a constant crossed
WITH a AS (SELECT 1 AS one) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM a CROSS JOIN people

-- two CTEs joined on the person
WITH a AS (SELECT * FROM people), b AS (SELECT * FROM visits) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM a INNER JOIN b ON a.pid = b.pid

-- a CTE inside FROM
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (WITH a AS (SELECT * FROM people) SELECT * FROM a)

-- a CTE inside FROM that uses an outer one
WITH a AS (SELECT * FROM people) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (WITH b AS (SELECT * FROM a) SELECT * FROM b)

-- an answer as a CTE
-- plain: SELECT COUNT(*) AS n FROM people
WITH a AS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people) SELECT * FROM a

-- an answer of a CTE as a CTE
-- plain: SELECT COUNT(*) AS n FROM people
WITH a AS (SELECT * FROM people), b AS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM a) SELECT * FROM b

-- an answer in brackets
-- plain: SELECT COUNT(score) AS n FROM people
(SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(score) AS n FROM people)

-- a union of two answers
-- gap: unsupported_sql | The clause twice
-- plain: SELECT COUNT(*) AS n FROM people UNION ALL SELECT COUNT(*) AS n FROM visits
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people UNION ALL SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM visits

-- a union of two answers without doubles
-- plain: SELECT COUNT(*) AS n FROM people UNION SELECT COUNT(*) AS n FROM visits
SELECT COUNT(*) AS n FROM people UNION SELECT COUNT(*) AS n FROM visits

-- the common rows of two answers
SELECT region FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) INTERSECT SELECT region FROM (SELECT region, COUNT(*) AS n FROM people WHERE age > 30 GROUP BY region)

-- the rows of one answer without those of another
SELECT COUNT(*) AS n FROM people EXCEPT SELECT COUNT(*) AS n FROM visits

-- two answers crossed
SELECT a.n, b.m FROM (SELECT COUNT(*) AS n FROM people) a CROSS JOIN (SELECT COUNT(*) AS m FROM visits) b

-- two answers joined on their key
SELECT a.region, a.n, b.m FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) a INNER JOIN (SELECT region, SUM(age) AS m FROM people GROUP BY region) b ON a.region = b.region

-- an answer crossed with a public table and counted
SELECT COUNT(*) AS n FROM (SELECT COUNT(*) AS k FROM people) CROSS JOIN wards

-- a count of an answer's rows
SELECT COUNT(*) AS n FROM (SELECT region, COUNT(*) AS k FROM people GROUP BY region)

-- the difference of two answers
SELECT ABS((SELECT VAR_POP(age) FROM people) - (SELECT VAR_POP(schooling) FROM people)) AS d

-- a union of tables inside
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT pid, day FROM visits UNION ALL SELECT pid, day FROM orders)

-- a union of a table with itself
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT * FROM people UNION ALL SELECT * FROM people)

-- a union of three
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT pid FROM people UNION ALL SELECT pid FROM visits UNION ALL SELECT pid FROM orders)

-- a union inside a union
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT pid FROM people UNION ALL SELECT * FROM (SELECT pid FROM visits UNION ALL SELECT pid FROM orders))

-- a union without doubles
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT pid, day FROM visits UNION DISTINCT SELECT pid, day FROM orders)

-- common rows of two tables
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT pid FROM people INTERSECT SELECT pid FROM orders)

-- rows of a table without those of another
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT pid FROM people EXCEPT SELECT pid FROM orders)

-- a union crossed with constants
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT pid FROM visits UNION ALL SELECT pid FROM orders) CROSS JOIN (SELECT 'a' AS x UNION ALL SELECT 'b' AS x)

-- where something exists in a public table
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people WHERE EXISTS (SELECT ward FROM wards)

-- where something exists in a public table that matches
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM visits WHERE EXISTS (SELECT 1 FROM wards WHERE wards.ward = visits.ward AND site = 'old')

-- where something exists in a public table whose own condition holds
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people WHERE EXISTS (SELECT ward FROM wards WHERE EXISTS (SELECT region FROM regions))

-- where a column is in a public table
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM visits WHERE ward IN (SELECT ward FROM wards WHERE site = 'new')

-- where a constant is in a public table
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people WHERE 10 IN (SELECT beds FROM wards)

-- where the same person has an order
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM people WHERE EXISTS (SELECT 1 FROM orders WHERE orders.pid = people.pid)

-- where the same person has an order, IN
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM people WHERE pid IN (SELECT pid FROM orders)

-- a constant list in a subquery as a column
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) region, (SELECT 1) AS one, SUM(age) AS s FROM people GROUP BY region

-- a number of an answer in a condition of a public table
SELECT COUNT(*) AS n FROM wards WHERE beds < (SELECT COUNT(*) FROM people)

-- a count of a choice
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, max_groups_contributed=1) schooling, COUNT(IF(TRUE, age, NULL)) AS n FROM people GROUP BY 1

-- a choice by a count
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) IF(COUNT(*) > 0, COUNT(*), COUNT(score)) AS n FROM people

-- rounded aggregates of each group
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) region, COUNT(*) AS n, ROUND(SUM(income), 3) AS s, ROUND(AVG(income), 3) AS a, ROUND(VAR_POP(income), 3) AS v FROM people GROUP BY region

-- a trailing comma
-- plain: SELECT region, COUNT(*) AS n FROM people GROUP BY region
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) region, COUNT(*) AS n, FROM people GROUP BY region

-- two prices
-- refused: unsupported_sql | the price stands at two places
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS k, pid FROM visits GROUP BY pid)

-- an anonymized count
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_COUNT(*) AS n FROM people

-- anonymized values
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_COUNT(score) AS n FROM people

-- an anonymized sum
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_SUM(age) AS s FROM people

-- an anonymized sum, clamped
-- plain: SELECT SUM(least(greatest(score, 2), 3)) AS s FROM people WHERE score IS NOT NULL
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_SUM(score CLAMPED BETWEEN 2 AND 3) AS s FROM people

-- an anonymized mean
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_AVG(income CLAMPED BETWEEN 0 AND 8000) AS a FROM people

-- an anonymized count, clamped
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_COUNT(* CLAMPED BETWEEN 0 AND 100) AS n FROM visits

-- anonymized aggregates by key
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ward, ANON_COUNT(* CLAMPED BETWEEN 0 AND 9) AS a, ANON_SUM(minutes CLAMPED BETWEEN 0 AND 1000) AS b FROM visits GROUP BY ward

-- an anonymized variance
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_VAR_POP(age) AS v FROM people

-- an anonymized deviation
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_STDDEV_POP(age CLAMPED BETWEEN 18 AND 57) AS v FROM people

-- an anonymized percentile
-- plain: SELECT quantile_cont(age, 0.4) AS q FROM people
-- within: 1
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_PERCENTILE_CONT(age, 0.4 CLAMPED BETWEEN 18 AND 57) AS q FROM people

-- anonymized quantiles
-- plain: SELECT [18, 28, 37, 47, 57] AS q
-- within: 1
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_QUANTILES(age, 4 CLAMPED BETWEEN 18 AND 57) AS q FROM people

-- an anonymized sum with a report
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_SUM(age WITH REPORT(FORMAT=JSON)) AS s FROM people

-- anonymized with kappa
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6, kappa=4) ward, ANON_COUNT(*) AS n FROM visits GROUP BY ward

-- anonymized with a threshold
-- refused: clause_option | a threshold instead of a delta promises nothing
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, k_threshold=1) ANON_COUNT(*) AS n FROM people

-- anonymized over features
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_COUNT(*) AS n FROM (SELECT COUNT(*) AS k, pid FROM visits GROUP BY pid)

-- an anonymized answer around
-- plain: SELECT COUNT(*) AS n FROM people
SELECT * FROM (SELECT WITH ANONYMIZATION OPTIONS(epsilon=1000, delta=1e-6) ANON_COUNT(*) AS n FROM people)

-- a clause with a join and a key
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) region, COUNT(*) AS n FROM people JOIN visits USING (pid) GROUP BY region

-- rollup
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) sex, region, SUM(age) AS s FROM people GROUP BY ROLLUP (sex, region)

-- cube
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) sex, region, SUM(age) AS s FROM people GROUP BY CUBE (sex, region)

-- grouping sets
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) sex, region, SUM(age) AS s FROM people GROUP BY GROUPING SETS (sex, region)

-- grouping of a key
SELECT sex, GROUPING(sex) AS g, SUM(age) AS s FROM people GROUP BY ROLLUP (sex)

-- a clause in a CTE, selected groups used again
-- gap: unsupported_sql | The clause twice
-- plain: SELECT town, COUNT(*) AS n FROM people GROUP BY town
WITH g AS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, max_groups_contributed=1) town FROM people GROUP BY town) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, group_selection_strategy=PUBLIC_GROUPS) town, COUNT(*) AS n FROM people RIGHT JOIN g USING (town) GROUP BY town

-- no aggregate and no key
-- refused: not_grouped | rows of people are never released
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) age FROM people

-- a column that is no key
-- refused: not_grouped | a value of one of many rows
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(score) AS n, region, age FROM people GROUP BY region

-- SELECT AS STRUCT
-- refused: unsupported_sql | no engine here has such values
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) AS STRUCT COUNT(score) AS n FROM people

-- an aggregate of an aggregate
-- refused: unsupported_sql | the inner number is one already
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(COUNT(score)) AS n FROM people

-- a sum without an argument
-- refused: sql_syntax | a sum of nothing
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM() AS n FROM people

-- a sum of everything
-- refused: unsupported_sql | a sum of no column
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(*, contribution_bounds_per_group => (10, 100)) AS n FROM people

-- bounds that are not numbers
-- refused: unsupported_sql | not bounds
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*, contribution_bounds_per_group => (10, '100')) AS n FROM people

-- bounds from a column
-- refused: unsupported_sql | bounds that depend on data
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*, contribution_bounds_per_group => (married, 100)) AS n FROM people

-- bounds from a subquery
-- refused: unsupported_sql | bounds that depend on data
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(age, contribution_bounds_per_group => (SELECT 0, 1)) AS n FROM people

-- bounds upside down
-- refused: bounds_crossed | no bounds
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*, contribution_bounds_per_group => (1, 0)) AS n FROM people

-- a report in a format nobody knows
-- refused: unsupported_sql | no such report
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) SUM(age, report_format => 1) AS s FROM people

-- anonymized function inside the other clause
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) ANON_COUNT(*) AS n FROM people

-- a clause nobody knows
-- refused: sql_syntax | not SQL
SELECT WITH custom_identifier COUNT(*) FROM people

-- hints
-- refused: unsupported_sql | a hint would be ignored
SELECT @{hint_a=1} region, COUNT(*) AS n FROM people GROUP BY region

-- a window over private rows
-- refused: unsupported_sql | a rank among other people's rows
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT RANK() OVER (ORDER BY age) AS r FROM people) WHERE r < 10

-- qualify
-- refused: unsupported_sql | a rank among other people's rows
SELECT COUNT(*) AS n FROM people QUALIFY RANK() OVER (ORDER BY age) < 10

-- numbers of all rows inside
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM (SELECT COUNT(*) AS k FROM visits)

-- a sample of rows
-- refused: unsupported_sql | sampling earns nothing here
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people TABLESAMPLE RESERVOIR (1 ROWS)

-- a sample of blocks
-- refused: unsupported_sql | sampling earns nothing here
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people TABLESAMPLE SYSTEM (10 PERCENT)

-- a sample inside a sample
-- refused: unsupported_sql | sampling earns nothing here
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT * FROM people TABLESAMPLE BERNOULLI (50 PERCENT)) TABLESAMPLE SYSTEM (10 PERCENT)

-- limit inside
-- refused: unsupported_sql | it would choose among private rows
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT * FROM people LIMIT 10)

-- order by chance inside
-- refused: unsupported_sql | chance other than ours
WITH t AS (SELECT age FROM people ORDER BY RANDOM()) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM t

-- limit inside a left side
-- refused: unsupported_sql | it would choose among private rows
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) region, COUNT(*) AS n FROM (SELECT pid, region FROM people LIMIT 10) RIGHT OUTER JOIN (SELECT DISTINCT region FROM regions) USING (region) GROUP BY region

-- private groups as if public
-- refused: private_join | keys would be read from private rows
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM people a RIGHT OUTER JOIN (SELECT DISTINCT age FROM people) b ON a.age = b.age GROUP BY b.age

-- a cross join of private tables
-- refused: private_join | one person's row meets everybody's
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM people a CROSS JOIN visits b

-- a comma join of private tables
-- refused: private_join | one person's row meets everybody's
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a, visits b

-- a join with a condition on one side
-- refused: private_join | one person's row meets everybody's
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a INNER JOIN visits b ON a.pid = a.pid

-- a join on the person or something else
-- refused: private_join | one person's row meets many others
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a INNER JOIN visits b ON (a.pid = b.pid OR a.minutes = b.minutes)

-- a join on another column
-- refused: private_join | one person's row meets many others
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a INNER JOIN visits b ON a.minutes = b.minutes

-- a join on two other columns
-- refused: private_join | one person's row meets many others
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a INNER JOIN visits b ON (a.minutes = b.minutes AND a.ward = b.ward)

-- a join on another column with USING
-- refused: private_join | one person's row meets many others
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a JOIN visits b USING (minutes)

-- a left join on another column
-- refused: private_join | one person's row meets many others
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) SUM(a.minutes) AS n FROM visits a LEFT OUTER JOIN visits b ON a.ward = b.ward

-- a join on texts of the identifier
-- refused: private_join | an expression of the person is not the person
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM visits a INNER JOIN visits b ON CAST(a.pid AS VARCHAR) = CAST(b.pid AS VARCHAR)

-- where anything exists in a private table
-- refused: unsupported_sql | whether anybody is there is private
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people WHERE EXISTS (SELECT pid FROM visits)

-- where a constant is in a private table
-- refused: unsupported_sql | whether anybody is there is private
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people WHERE 123 IN (SELECT minutes FROM visits)

-- rows of a public table where anybody exists in a private one
-- refused: unsupported_sql | whether anybody is there is private
SELECT COUNT(*) AS n FROM wards WHERE EXISTS (SELECT * FROM people)

-- a choice by whether anybody exists
-- refused: unsupported_sql | whether anybody is there is private
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) schooling, COUNT(IF(EXISTS (SELECT 1 FROM visits), age, NULL)) AS n FROM people GROUP BY schooling

-- rows where an answer is positive
-- refused: unsupported_sql | rows of people are never released
SELECT 1 FROM people WHERE (SELECT COUNT(*) FROM people) > 0

-- lists of values
-- refused: unsupported_sql | values of people are never released
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) ARRAY_AGG(age ORDER BY age) AS l FROM people

-- a value of anybody
-- refused: unsupported_sql | a value of one person
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) ANY_VALUE(age) AS l FROM people

-- a recursion over private rows
-- refused: unsupported_sql | no bound on what one person becomes
WITH RECURSIVE t AS ((SELECT age, pid FROM people) UNION ALL (SELECT age + 1, pid FROM t WHERE age < 60)) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM t

-- a recursion over an answer
-- refused: unsupported_sql | an answer has one row for each key
WITH RECURSIVE t AS ((SELECT COUNT(*) AS c FROM people) UNION ALL (SELECT c + 1 FROM t WHERE c < 600)) SELECT * FROM t

-- a table function
-- refused: unsupported_sql | functions of tables do not run on private rows
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM some_function(people)

-- a table function of a subquery
-- refused: unsupported_sql | functions of tables do not run on private rows
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM some_function((SELECT * FROM people))

-- GROUP BY the person with noise
-- refused: key_is_identifier | a group of one person
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) pid, COUNT(*) AS n FROM visits GROUP BY pid

-- a table made of an answer
-- refused: unsupported_sql | only questions are answered
CREATE TABLE kept AS SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people

-- a view of an answer
-- refused: unsupported_sql | only questions are answered
CREATE VIEW kept AS SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people

-- a materialized view of an answer
-- refused: unsupported_sql | only questions are answered
CREATE MATERIALIZED VIEW kept AS SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people

-- a model of an answer
-- refused: unsupported_sql | only questions are answered
CREATE MODEL kept AS SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people

-- a table function of an answer
-- refused: unsupported_sql | only questions are answered
CREATE TABLE FUNCTION kept() AS SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people

-- an export of an answer
-- refused: sql_syntax | only questions are answered
EXPORT DATA OPTIONS (format=csv) AS SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people

-- rows inserted
-- refused: unsupported_sql | only questions are answered
INSERT INTO people (age) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6, privacy_unit_column=pid) COUNT(*) AS n FROM people

-- rows changed
-- refused: unsupported_sql | only questions are answered
UPDATE people SET age = 5 WHERE 0 < (SELECT COUNT(*) FROM people)

-- rows deleted
-- refused: unsupported_sql | only questions are answered
DELETE FROM people WHERE age < (SELECT COUNT(*) FROM people)

-- rows merged
-- refused: unsupported_sql | only questions are answered
MERGE INTO people AS t USING (SELECT COUNT(*) AS n FROM people) s ON t.age = s.n WHEN MATCHED THEN UPDATE SET age = 1

-- a constant made
-- refused: unsupported_sql | only questions are answered
CREATE CONSTANT form = 'JSON'

-- public tables alone with the clause
-- refused: public_question | nobody is protected here
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM wards

-- constants alone with the clause
-- refused: public_question | nobody is protected here
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-6) COUNT(*) AS n FROM (SELECT 1 AS x UNION ALL SELECT 2 AS x)
