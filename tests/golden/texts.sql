SELECT drug, COUNT(DISTINCT patient) AS n FROM visits GROUP BY drug
SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 2
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6, max_groups_contributed=1, privacy_unit_column=patient) ward, COUNT(*) AS n FROM visits GROUP BY ward
SELECT bin(age, 0, 110, 11) AS k, SUM(cost) FILTER (WHERE note LIKE 'l%') AS s FROM visits WHERE day + INTERVAL 30 DAY > '2024-03-01' GROUP BY k HAVING s > 1 ORDER BY s LIMIT 3
SELECT AVG(CASE WHEN age BETWEEN 18 AND 65 THEN round(cost, 2) ELSE power(age, 2) END) AS m, STDDEV_POP(cost) AS d, COVAR_SAMP(age, cost) AS c FROM visits WHERE note IN ('ok', 'late')
SELECT SUM(n) AS s, MAX(n) FILTER (WHERE ward <> 'A') AS m FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) HAVING SUM(n) > 1
SELECT ward, age, COUNT(*) AS n, AVG(cost) AS m, GROUPING(ward) AS g FROM visits WHERE age < 5 GROUP BY ROLLUP (ward, age) ORDER BY n DESC LIMIT 5
WITH a AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward), b AS (SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward) SELECT upper(a.ward) AS w, s / n AS m, n / (SELECT COUNT(*) FROM visits) AS k FROM a LEFT JOIN b ON a.ward = b.ward WHERE n > 0
SELECT t.w, AVG(sign(t.y)) AS a FROM t GROUP BY t.w
SELECT t.w, AVG(coalesce(p.weight, -9)) AS a FROM t LEFT JOIN p ON p.w = t.w GROUP BY t.w
SELECT p.region, AVG(p.weight) AS a FROM p JOIN t ON t.w = p.w AND t.x > p.weight GROUP BY p.region
SELECT s.w, AVG(s.v + 1) AS a FROM (SELECT w, x AS v, y FROM t UNION ALL SELECT w, x, z FROM t WHERE f) AS s GROUP BY s.w
SELECT s.w, AVG(s.y) AS a FROM (SELECT DISTINCT w, x, y, note FROM t) AS s GROUP BY s.w
WITH raw AS (SELECT * FROM t), t AS (SELECT * FROM raw WHERE x > -2), base AS (SELECT w, x * 2 AS v, note FROM t) SELECT s.w, AVG(p.weight) AS a FROM base AS s LEFT JOIN p ON s.w = p.w GROUP BY s.w
SELECT t.w, AVG(t.x * p.weight) AS a FROM t, p GROUP BY t.w
SELECT w, AVG(t.y) AS a FROM t FULL JOIN p USING (w) GROUP BY w
SELECT t.w, AVG(coalesce(q.one, 3)) AS a FROM t LEFT JOIN (SELECT w, weight + 1 AS heavy, 1 AS one FROM p WHERE weight > 0) AS q ON t.w = q.w AND q.heavy > 1 GROUP BY t.w
SELECT q.n, AVG(t.x - q.n) AS a FROM t CROSS JOIN UNNEST([0, 1, 2]) AS q(n) GROUP BY q.n
SELECT w, AVG(p.weight) AS a FROM t JOIN p USING (w) GROUP BY w
SELECT t.w, AVG(t.y) AS a FROM t GROUP BY t.w
SELECT t.w, AVG(coalesce(u.v, 4)) AS a FROM t LEFT JOIN u ON u.pid = t.pid GROUP BY t.w
SELECT s.w, AVG(s.n) AS a FROM (SELECT pid, w, x AS n FROM t UNION ALL SELECT pid, k, v FROM u) AS s GROUP BY s.w
SELECT t.w, AVG(t.q * t.q) AS a FROM items AS t GROUP BY t.w
SELECT s.w, AVG(s.q) AS a FROM (SELECT w, q FROM items UNION ALL SELECT w, 1 FROM orders) AS s GROUP BY s.w
SELECT s.w, AVG(s.q) AS a FROM (SELECT DISTINCT w, q FROM items) AS s GROUP BY s.w
SELECT t.w, AVG(coalesce(u.v, 4)) AS a FROM t LEFT JOIN u ON t.note = u.note GROUP BY t.w
SELECT t.w, AVG(t.x + s.x) AS a FROM t AS t JOIN t AS s ON t.w = s.w GROUP BY t.w
SELECT t.w, AVG(r.v) AS a FROM t JOIN u ON t.w = u.k JOIN u AS r ON u.note = r.note GROUP BY t.w
SELECT s.w, AVG(s.v) AS a FROM (SELECT DISTINCT t.w, u.v FROM t JOIN u ON t.note = u.note) AS s GROUP BY s.w
SELECT p.region, AVG(s.sy * p.weight) AS a FROM (SELECT pid, COUNT(*) AS n, COUNT(y) AS m, COUNT(DISTINCT w) AS k, SUM(x) AS sx, SUM(y) AS sy, AVG(y) AS ay, MIN(x) AS lo, MAX(d) AS hi, FIRST(w ORDER BY d) AS fw, LAST(f ORDER BY x) AS lf, LAST(x ORDER BY y DESC) FILTER (WHERE f) AS lx FROM t WHERE z > 0 OR note = 'x' GROUP BY pid HAVING COUNT(*) > 1) AS s JOIN p ON s.fw = p.w GROUP BY p.region
SELECT s.fw, AVG(t.x - s.lo) AS a FROM (SELECT pid, COUNT(*) AS n, COUNT(y) AS m, COUNT(DISTINCT w) AS k, SUM(x) AS sx, SUM(y) AS sy, AVG(y) AS ay, MIN(x) AS lo, MAX(d) AS hi, FIRST(w ORDER BY d) AS fw, LAST(f ORDER BY x) AS lf, LAST(x ORDER BY y DESC) FILTER (WHERE f) AS lx FROM t GROUP BY pid) AS s JOIN t ON s.pid = t.pid GROUP BY s.fw
SELECT s.w, AVG(s.x - s.b) AS a FROM (SELECT pid, w, x, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY x) AS r, LAG(x) OVER (PARTITION BY pid ORDER BY d) AS b, SUM(y) OVER (PARTITION BY pid, w ORDER BY x) AS z, LEAD(w) OVER (PARTITION BY pid ORDER BY y) AS e FROM t) AS s GROUP BY s.w
SELECT s.fw, AVG(s.n) AS a FROM (SELECT DISTINCT n, fw FROM (SELECT pid, COUNT(*) AS n, COUNT(y) AS m, COUNT(DISTINCT w) AS k, SUM(x) AS sx, SUM(y) AS sy, AVG(y) AS ay, MIN(x) AS lo, MAX(d) AS hi, FIRST(w ORDER BY d) AS fw, LAST(f ORDER BY x) AS lf, LAST(x ORDER BY y DESC) FILTER (WHERE f) AS lx FROM t GROUP BY pid) AS r) AS s GROUP BY s.fw
SELECT DISTINCT ward FROM visits WHERE ward <> 'B'
SELECT STDDEV(age) AS s, CORR(age, cost) AS r, MEDIAN(age) AS m FROM visits
SELECT APPROX_QUANTILES(age, 4)[OFFSET(2)] AS median FROM visits
SELECT AVG(age, contribution_bounds_per_row => (0, 90)) AS age FROM visits
SELECT SUM(x, contribution_bounds_per_row => (1, 4)) AS s, AVG(y, contribution_bounds_per_row => (-.5, 1.5)) AS a FROM t
SELECT w, SUM(x, contribution_bounds_per_group => (2, 6)) AS s, COUNT(*, contribution_bounds_per_group => (0, 2)) AS n FROM t GROUP BY w
SELECT COUNT(x, contribution_bounds_per_group => (0, 1)) AS n, SUM(y, contribution_bounds_per_group => (-1, 1)) FILTER (WHERE x > 2) AS s FROM t
SELECT ANON_VAR_POP(x CLAMPED BETWEEN 0 AND 3) AS v, ANON_PERCENTILE(y, 0.5 CLAMPED BETWEEN -1 AND 1) AS m FROM t
SELECT w, SUM(x, contribution_bounds_per_group => (2, 6)) AS s FROM t GROUP BY w
SELECT w, COUNT(*, contribution_bounds_per_group => (0, 2)) AS n FROM t GROUP BY w
SELECT w, AVG(x, contribution_bounds_per_group => (0, 4)) AS a FROM t GROUP BY w
SELECT COUNT(*) AS n FROM visits WHERE note = 'x => (1, 2) CLAMPED BETWEEN' -- a => b
SELECT SUM(least(greatest(x, 1), 4)) AS s FROM t
SELECT ward FROM visits GROUP BY ward ORDER BY ward
SELECT DISTINCT ward FROM visits ORDER BY ward
SELECT DISTINCT ward FROM visits WHERE ward > 'A'
SELECT COUNT(patient) FILTER (WHERE ward = 'B') AS n FROM visits
SELECT COUNT(*) AS n FROM visits
SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY w DESC
SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY ALL HAVING n > 9 ORDER BY 2
SELECT COUNT(*) AS n FROM visits GROUP BY ALL
SELECT TOP 1 w, COUNT(*) AS n FROM t GROUP BY w ORDER BY n DESC
SELECT SUM([x]) AS s FROM [t] WHERE [t].[w] = 'A'
SELECT COUNT(*) AS n FROM `main.t`
SELECT SAFE_DIVIDE(SUM(x), COUNT(*)) AS r FROM t
WITH c (a, b) AS (SELECT x, y FROM t) SELECT SUM(a) AS a, SUM(b) AS b FROM c
SELECT COUNT(*) AS n FROM (SELECT x FROM t ORDER BY x DESC)
SELECT COUNT(*) AS n FROM t CROSS JOIN (SELECT 1 AS a UNION ALL SELECT 2)
SELECT COUNT(*) AS n FROM t JOIN (SELECT w FROM p GROUP BY w) AS q ON t.w = q.w
SELECT SUM(x) AS s FROM t WHERE w = 'A'
SELECT SUM(x) / COUNT(*) AS r FROM t
SELECT SUM(x) AS a, SUM(y) AS b FROM t
SELECT COUNT(*) AS n FROM t WHERE note IS NOT NULL
SELECT 2 * COUNT(*) AS n FROM t
SELECT SUM(x), SUM(x) FROM t
SELECT age // 10 AS k, COUNT(*) AS n FROM visits WHERE age // 10 IN (3, 4) GROUP BY k
SELECT month(day) AS k, COUNT(*) AS n FROM visits WHERE day < DATE '2024-03-01' GROUP BY k
SELECT floor(cost / 100) AS k, COUNT(*) AS n FROM visits WHERE floor(cost / 100) < 2 GROUP BY k
SELECT cost > 5 AS k, COUNT(*) AS n FROM visits WHERE cost > 5 GROUP BY k
SELECT w, SUM(n) AS n FROM (SELECT patient, ward AS w, COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B') AND age > 3 GROUP BY patient, ward) WHERE n > 1 GROUP BY w
SELECT w.site, COUNT(*) AS n FROM visits v JOIN wards w ON v.note = w.ward WHERE w.beds > 15 OR v.cost > 1 GROUP BY w.site
SELECT v.ward, COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.ward GROUP BY v.ward
SELECT v.ward, w.site, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY v.ward, w.site
SELECT v.ward, COUNT(*) AS n FROM visits v JOIN wards w ON v.note = w.ward WHERE w.site = 'south' GROUP BY v.ward
SELECT v.ward AS k, COUNT(w.one) AS n FROM visits v LEFT JOIN (SELECT ward, 1 AS one FROM wards) w ON v.ward = w.ward GROUP BY k
SELECT w.ward AS k, COUNT(v.age) AS n FROM visits v RIGHT JOIN wards w ON v.ward = w.ward GROUP BY k
SELECT w.ward AS k, SUM(v.age) AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward GROUP BY k
SELECT ward AS k, COUNT(v.age) AS n FROM visits v RIGHT JOIN wards w USING (ward) GROUP BY k
SELECT w.ward AS k, COUNT(v.age) AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward AND v.age > 2 GROUP BY k
SELECT w.ward AS k, COUNT(v.age) AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward WHERE w.beds < 3 GROUP BY k
SELECT ward AS k, COUNT(*) AS n FROM wards w RIGHT JOIN visits v USING (ward) GROUP BY k
SELECT w.site AS k, COUNT(v.age) AS n FROM visits v FULL JOIN wards w ON v.ward = w.ward GROUP BY k
SELECT wards.ward AS k, COUNT(*) AS n FROM visits JOIN wards USING (ward) WHERE visits.ward <> 'A' GROUP BY wards.ward
SELECT w.b AS k, COUNT(*) AS n FROM visits v JOIN wards AS w(a, b) ON v.ward = w.a GROUP BY k
SELECT q.name AS k, COUNT(*) AS n FROM visits v JOIN (VALUES ('A', 'one'), ('B', 'two'), ('Z', 'two'), (NULL, 'none')) AS q(ward, name) ON v.ward = q.ward GROUP BY k
SELECT q.col1 AS k, COUNT(*) AS n FROM visits v, (VALUES ('A', 1), ('B', 2.5)) AS q WHERE v.ward = q.col0 GROUP BY k
SELECT q.d AS k, COUNT(*) AS n FROM visits v JOIN (VALUES (DATE '2024-03-05'), (DATE '2024-04-05')) AS q(d) ON v.day = q.d GROUP BY k
SELECT q.x AS k, COUNT(*) AS n FROM visits v, UNNEST(['A', 'C']) AS q(x) WHERE q.x = v.ward GROUP BY k
SELECT v.ward AS k, COUNT(*) AS n FROM visits v JOIN range(2, 5, 2) AS q(x) ON v.age = q.x GROUP BY k
SELECT w.ward, COUNT(1) AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward GROUP BY w.ward
SELECT w.ward, SUM(w.beds) AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward GROUP BY w.ward
SELECT w.ward, COUNT(*) FILTER (WHERE v.age IS NULL) AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward GROUP BY w.ward
SELECT n, COUNT(n) AS m FROM (SELECT v.age AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward UNION ALL SELECT age FROM visits) GROUP BY n
SELECT ward, QUANTILE(age, 0.25) AS "q_0.25", QUANTILE(age, 0.75) AS "q_0.75" FROM visits GROUP BY ward
SELECT APPROX_QUANTILES(age, 4)[OFFSET(1)] AS q FROM visits
SELECT QUANTILE(age, 0.25) AS q FROM visits
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n FETCH FIRST 2 ROWS ONLY
SELECT COUNT(DISTINCT ward) AS n FROM (SELECT DISTINCT ward FROM visits) AS t
SELECT COUNT(*) AS n FROM (SELECT age FROM visits UNION ALL SELECT age FROM visits) AS u
SELECT n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS t WHERE n > 1
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n LIMIT 2 OFFSET 1
SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward
SELECT ward AS w, SUM(cost) / COUNT(*) AS mean FROM visits GROUP BY ward HAVING COUNT(*) > 3
SELECT COUNT(*) AS m FROM visits GROUP BY month(day)
SELECT n + 1 AS n FROM (SELECT COUNT(*) AS n FROM visits) AS q
SELECT COUNT(*) AS n FROM (SELECT DISTINCT ward, age FROM visits) AS q
SELECT COUNT(*) AS n FROM (SELECT DISTINCT ward, age FROM visits) d
SELECT MEDIAN(age) AS m, QUANTILE(age, 0.25) AS lo, QUANTILE(age, 0.75) AS hi, MAX(age) AS top, MIN(age) AS low FROM visits
SELECT COUNT(*) AS n FROM visits, (SELECT COUNT(*) AS m FROM wards) AS w
SELECT SUM(v) AS s FROM (SELECT CAST(least(greatest(power((x - x) * 1e110, 3) - 1e6 * (x + 1), -2e9), 1) AS BIGINT) AS v FROM t WHERE w = 'B' UNION ALL SELECT 0 AS v FROM t WHERE w = 'C') AS q
SELECT SUM(DISTINCT x) AS s, AVG(DISTINCT x) AS a, COUNT(*) AS n FROM t
SELECT w, VAR_POP(DISTINCT x) AS v FROM t WHERE x <> 2 GROUP BY w
SELECT COUNT(DISTINCT (w, x)) AS n, COUNT(DISTINCT w, x) AS m FROM t
SELECT w, COUNT(DISTINCT (x, x > 2)) FILTER (WHERE x <> 3) AS n FROM t GROUP BY w
SELECT AVG(DISTINCT x) AS a FROM t
SELECT SUM(DISTINCT x > 1) AS s, SUM(DISTINCT x) AS a FROM t
SELECT VARIANCE(DISTINCT x) AS v FROM t
SELECT w, COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT pid) AS u FROM t GROUP BY w
SELECT COUNT(DISTINCT pid) AS n FROM t
SELECT p.region, COUNT(DISTINCT t.pid) AS n FROM t JOIN p ON t.w = p.w GROUP BY p.region
SELECT COUNT(*) AS n FROM t JOIN p ON t.x > 0
SELECT u.k, COUNT(*) AS n, SUM(t.x) AS s FROM t LEFT JOIN u ON t.pid = u.pid GROUP BY u.k
SELECT COUNT(*) AS n FROM t AS a JOIN t AS b ON a.pid = b.pid JOIN u ON b.pid = u.pid
SELECT COUNT(*) AS n, SUM(q) AS s FROM items
SELECT COUNT(*) AS n FROM (SELECT DISTINCT w, q FROM items) AS s
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT DISTINCT w, x FROM t) AS q
SELECT COUNT(*) AS n FROM (SELECT w FROM t UNION SELECT 'C' FROM t) AS q
SELECT w, COUNT(*) AS n, SUM(x) AS s, SUM(y) AS r, AVG(y) AS a, MEDIAN(x) AS m, COUNT(DISTINCT x) AS d, COUNT(DISTINCT pid) AS u FROM t GROUP BY w
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT DISTINCT w, x, y FROM t) AS q
SELECT COUNT(*) AS n, SUM(a.x) AS s FROM t AS a JOIN t AS b ON a.pid = b.pid WHERE a.x < b.x
SELECT t.f, COUNT(*) AS n, COUNT(DISTINCT u.v) AS d FROM t JOIN u ON t.w = u.k GROUP BY t.f
SELECT u.k, COUNT(*) AS n, SUM(t.y) AS s FROM t LEFT JOIN u ON t.note = u.note GROUP BY u.k
SELECT a.w, COUNT(*) AS n, SUM(a.x - b.x) AS s FROM t a JOIN t b ON a.w = b.w GROUP BY a.w
SELECT COUNT(*) AS n, SUM(u.v) AS s FROM t JOIN u ON t.w = u.k AND t.note = u.note
SELECT COUNT(*) AS n, SUM(b.v) AS s FROM t JOIN u ON t.w = u.k JOIN u b ON u.note = b.note
SELECT COUNT(*) AS n FROM (SELECT w, x FROM t WHERE f) AS q JOIN u ON q.w = u.k
SELECT COUNT(*) AS n, SUM(u.v) AS s FROM t JOIN u ON t.pid = u.pid AND t.w = u.k
SELECT SUM(v) AS a FROM (SELECT abs(x) AS v FROM t) AS q
SELECT MEDIAN(abs(y)) AS a, MAX(abs(y) + 0.5) AS b FROM t
SELECT floor(abs(y)) AS k, COUNT(*) AS n FROM t GROUP BY k
SELECT SUM(x) AS s FROM t
SELECT SUM(x * 1000000) AS s FROM t
SELECT COUNT(*) AS n FROM u
SELECT COUNT(*) AS n FROM t LEFT JOIN bands ON t.x = bands.x
SELECT COUNT(*) AS n FROM u JOIN t USING (pid)
SELECT COUNT(*) AS n FROM t JOIN u USING (pid, note)
SELECT COUNT(*) AS n FROM u JOIN t USING (pid, note)
SELECT COUNT(*) AS n FROM (SELECT pid FROM t UNION ALL SELECT pid FROM u) AS s
SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(*) AS k FROM u GROUP BY pid) AS s
SELECT s.k, COUNT(*) AS n FROM t JOIN (SELECT pid, COUNT(*) AS k FROM u GROUP BY pid) AS s USING (pid) GROUP BY s.k
SELECT t.w, COUNT(*) AS n FROM t JOIN u USING (pid) GROUP BY t.w
SELECT f, COUNT(*) AS n FROM t GROUP BY f
SELECT NOT f AS g, COUNT(*) AS n FROM t GROUP BY g
SELECT s.w, COUNT(*) AS n FROM (SELECT pid, w FROM t UNION ALL SELECT pid, k FROM u) AS s GROUP BY s.w
SELECT t.w, u.k, COUNT(*) AS n FROM t JOIN u USING (pid) GROUP BY t.w, u.k
SELECT COUNT(*) AS n, SUM(a.x) AS s, MEDIAN(c.x) AS m FROM t AS a JOIN t AS b USING (pid) JOIN t AS c USING (pid) JOIN t AS d USING (pid)
SELECT COUNT(*) AS n, SUM(a.x) AS s FROM t AS a JOIN (SELECT pid, MAX(x) AS m FROM t GROUP BY pid) AS f USING (pid) JOIN t AS b USING (pid)
SELECT SUM(s) AS a FROM (SELECT pid, SUM(y) AS s FROM t GROUP BY pid) AS q
SELECT COUNT(*) AS c FROM (SELECT pid, COUNT(*) AS n FROM t GROUP BY pid) AS s
SELECT w, COUNT(*) AS n, SUM(s) AS a FROM (SELECT pid, w, SUM(y) AS s FROM t GROUP BY pid, w) AS q GROUP BY w
SELECT f, COUNT(*) AS c, SUM(s) AS a, COUNT(DISTINCT pid) AS p FROM (SELECT w, f, pid, STDDEV_POP(x) AS s, MODE(x) AS o FROM t GROUP BY 1, 2, 3) AS q WHERE o > 0 GROUP BY f
SELECT q.w, COUNT(*) AS c, SUM(q.s - r.n) AS a FROM (SELECT pid, w, SUM(x) AS s FROM t GROUP BY pid, w) AS q JOIN (SELECT pid, COUNT(*) AS n FROM t GROUP BY pid) AS r USING (pid) GROUP BY q.w
SELECT w, f, COUNT(*) AS n FROM (SELECT pid, w, f FROM t GROUP BY pid, w, f) AS q GROUP BY w, f
SELECT w, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY w
SELECT w, MEDIAN(x) AS m FROM t GROUP BY w
SELECT COUNT(*) AS n, SUM(y) AS a FROM t WHERE pid NOT IN (SELECT pid FROM u WHERE k = 'A')
SELECT COUNT(*) AS n, SUM(t.x) AS a FROM t WHERE (SELECT COUNT(*) FROM u WHERE u.pid = t.pid) < 2
SELECT (SELECT COUNT(*) FROM u WHERE u.pid = t.pid) AS many, COUNT(*) AS n FROM t GROUP BY many
SELECT w, COUNT(*) AS n, COUNT(note) AS m FROM t SEMI JOIN u USING (pid) GROUP BY w
SELECT COUNT(*) AS n, SUM(x) AS a FROM t ANTI JOIN u ON t.pid = u.pid AND u.v > 1
SELECT COUNT(*) AS n FROM (SELECT pid FROM t INTERSECT SELECT pid FROM u) AS q
WITH big AS (SELECT pid FROM u WHERE v > 2) SELECT COUNT(*) AS n FROM t WHERE pid IN (SELECT pid FROM big)
SELECT r, d, COUNT(*) AS c FROM (SELECT RANK() OVER q AS r, DENSE_RANK() OVER q AS d FROM t WINDOW q AS (PARTITION BY pid ORDER BY x)) AS s GROUP BY r, d
SELECT COUNT(y) AS n FROM t
SELECT SUM(x) AS s, SUM(y) AS r FROM t
SELECT VARIANCE(x) AS v, VAR_POP(y) AS p, STDDEV(x) AS s, STDDEV_POP(y) AS q FROM t
SELECT w, COUNT(*) AS n FROM t GROUP BY w ORDER BY w
SELECT f, SUM(x) AS s FROM t GROUP BY f ORDER BY f
SELECT w, f, COUNT(*) AS n, SUM(y) AS s FROM t GROUP BY w, f ORDER BY w, f
SELECT month(d) AS m, COUNT(*) AS n FROM t GROUP BY m ORDER BY m
SELECT x % 3 AS k, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY k ORDER BY k
SELECT lower(w) AS k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k
SELECT COUNT(*) AS n FROM t WHERE note = 'n3'
SELECT COUNT(*) AS n FROM t WHERE note LIKE 'n%' AND x BETWEEN 10 AND 20
SELECT SUM(x) AS s FROM t WHERE w IN ('A', 'C') AND NOT f
SELECT SUM(y * 2 - 0.5) AS s, SUM(abs(y - 3)) AS a, SUM(coalesce(y, 0)) AS c FROM t
SELECT COUNT(*) FILTER (WHERE x > 30) AS n, SUM(x) FILTER (WHERE f) AS s FROM t
SELECT COUNT_IF(x > 30) AS n FROM t
SELECT SUM(year(d)) AS s, SUM(date_diff('day', DATE '2024-01-01', d)) AS q FROM t
SELECT COUNT(*) AS n, COUNT(region) AS m FROM t LEFT JOIN p ON t.w = p.w
SELECT COUNT(*) AS n, SUM(x - v) AS s FROM t JOIN u ON t.pid = u.pid
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT x FROM t UNION ALL SELECT v FROM u) AS q
SELECT COUNT(*) AS n FROM (SELECT x FROM t UNION SELECT v FROM u) AS q
SELECT w, COUNT(*) AS n FROM t GROUP BY w HAVING COUNT(*) > 39 ORDER BY w LIMIT 2
SELECT COUNT(*) + 1 AS n, SUM(x) / COUNT(*) AS a, 2 * SUM(x) - COUNT(y) AS b FROM t
SELECT COUNT(*) AS n FROM t WHERE d >= DATE '2024-03-01' AND d < '2024-05-01'
SELECT COUNT(*) AS n, SUM(t.x) AS s FROM t JOIN u ON t.pid = u.pid AND t.x = u.v
SELECT COUNT(*) AS k, SUM(n) AS a, SUM(s) AS b, SUM(r) AS c, SUM(lo) AS d, AVG(m) AS e FROM (SELECT pid, COUNT(y) AS n, SUM(x) AS s, SUM(y) AS r, MIN(y) AS lo, AVG(x) AS m FROM t GROUP BY pid) AS q
SELECT g, COUNT(*) AS k FROM (SELECT pid, LAST(f ORDER BY x) AS g, MAX(d) AS d FROM t WHERE x > 3 GROUP BY pid HAVING COUNT(*) > 1) AS q WHERE d > DATE '2024-02-01' GROUP BY g ORDER BY g
WITH per AS (SELECT pid, COUNT(DISTINCT w) AS k, COUNT_IF(f) AS c, COUNT(*) FILTER (WHERE x > 9) AS z FROM t GROUP BY pid) SELECT k, SUM(c) AS s, SUM(z) AS t FROM per WHERE k > 2 GROUP BY k HAVING s > 0 ORDER BY k
SELECT COUNT(*) AS n, SUM(x) AS s FROM t WHERE NOT EXISTS (SELECT 1 FROM p WHERE p.w = t.w AND p.weight = t.x AND weight > 99)
SELECT x, COUNT(*) AS n, SUM(y) AS s FROM t WHERE x BETWEEN 0 AND 1 GROUP BY x
SELECT t.w, COUNT(*) AS n FROM t JOIN bands b ON t.x = b.x WHERE t.w <> 'A' GROUP BY t.w
SELECT w, COUNT(*) AS n FROM t JOIN (SELECT w FROM p GROUP BY w) AS g USING (w) GROUP BY w
SELECT COUNT(*) AS n, SUM(t.x * q.m) AS s FROM t, (SELECT AVG(weight) / 3 AS m, COUNT(*) AS k FROM p GROUP BY region) AS q
SELECT p.region, COUNT(*) AS n, SUM(t.x * p.weight) AS s FROM t, p WHERE t.w = p.w GROUP BY p.region
SELECT t.w, COUNT(*) AS n, SUM(p.weight) AS s FROM t CROSS JOIN p GROUP BY t.w
SELECT p.region, COUNT(*) AS n FROM t JOIN (p JOIN bands b ON p.weight > b.x) ON t.w = p.w GROUP BY p.region
SELECT p.w, COUNT(t.x) AS n, SUM(t.y) AS s FROM t RIGHT JOIN p ON t.w = p.w GROUP BY p.w
SELECT w, COUNT(t.x) AS n FROM t FULL JOIN p USING (w) GROUP BY w
SELECT p.w, COUNT(*) AS n FROM t JOIN p USING (w) WHERE p.w <> 'A' GROUP BY p.w
SELECT q.n, COUNT(*) AS c FROM t, UNNEST([0, 1, 2]) AS q(n) WHERE t.x > q.n GROUP BY q.n
SELECT w, COUNT(*) AS n FROM t WHERE w IN (SELECT w FROM p WHERE weight > 1) GROUP BY w
SELECT f, COUNT(*) AS n FROM t WHERE w IN (SELECT w FROM p) OR x > 1 GROUP BY f
SELECT f, COUNT(*) AS n, SUM(x) AS s FROM t WHERE NOT EXISTS (SELECT 1 FROM p WHERE p.w = t.w AND p.weight = t.x) GROUP BY f
SELECT COUNT(*) AS n FROM t WHERE (w, x) IN (SELECT w, weight FROM p)
SELECT COUNT(DISTINCT f) AS n FROM t
SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT DISTINCT pid, w, x, y FROM t) AS q
SELECT MEDIAN(x) AS m, COUNT(DISTINCT y) AS d FROM t
SELECT SUM(y) AS s FROM t
SELECT w, COUNT(*) AS n FROM t WHERE x <= 100 AND x >= 0 GROUP BY w
SELECT COUNT(DISTINCT CASE WHEN x > 0 THEN NULL END) AS n FROM t
SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward
SELECT COUNT(cost) AS n FROM visits WHERE age >= 18 AND NOT ward = 'C' OR day IS NULL
SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B') AND age BETWEEN 3 AND 9
SELECT ward, SUM((cost + 1) / 1000 - 2) AS s FROM visits GROUP BY ward
SELECT month(day) AS m, QUANTILE(cost, 0.9) AS q FROM visits GROUP BY m
SELECT SUM(cost) / COUNT(*) AS s, SUM(cost) FILTER (WHERE age > 65) AS t FROM visits
SELECT site, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY site
SELECT COUNT(site) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.ward
SELECT SUM(x) AS s FROM (SELECT ward, age * 2 AS x FROM visits UNION ALL SELECT ward, age FROM visits) AS q
SELECT SUM(age) AS s FROM visits
SELECT ward, COUNT(*) AS n FROM visits WHERE cost > 100 GROUP BY ward
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 2
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 10
SELECT COUNT(DISTINCT patient) AS a, STDDEV(age) AS d, VAR_POP(age) AS e FROM visits
SELECT month(day) AS month, COUNT(*) AS n FROM visits GROUP BY 1
SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B') AND note LIKE '%x%'
SELECT CASE WHEN age < 18 THEN 'c' ELSE 'a' END AS g, COUNT(*) AS n FROM visits GROUP BY g
SELECT x, COUNT(*) AS n FROM t GROUP BY x
SELECT COUNT(*) AS n, SUM(x) AS s FROM t WHERE note LIKE 'Z%'
SELECT n, COUNT(*) AS people, AVG(total) AS total FROM (SELECT patient, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY patient) GROUP BY n
SELECT m.month, COUNT(v.patient) AS n FROM UNNEST([1, 2, 3]) AS m(month) LEFT JOIN visits v ON month(v.day) = m.month GROUP BY m.month
WITH people AS ( SELECT patient, COUNT(*) AS n, SUM(cost) AS total, MAX(cost) AS most, FIRST(ward ORDER BY day) AS began, LAST(ward ORDER BY day) AS ended FROM visits WHERE cost > 10 GROUP BY patient HAVING COUNT(*) > 1 ) SELECT began, ended, COUNT(*) AS people, AVG(total) AS total FROM people GROUP BY began, ended
SELECT ward, COUNT(*) AS people, AVG(least(total, 2000)) AS spent FROM (SELECT patient, ward, SUM(cost) AS total FROM visits GROUP BY patient, ward) GROUP BY ward
WITH steps AS ( SELECT ward, LEAD(ward) OVER (PARTITION BY patient ORDER BY day) AS next, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) AS visit FROM visits ) SELECT ward, next, COUNT(*) AS moves FROM steps WHERE visit <= 2 GROUP BY ward, next
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1, delta=1e-6, kappa=2) ward, ANON_COUNT(* CLAMPED BETWEEN 0 AND 3) AS n, ANON_AVG(age CLAMPED BETWEEN 0 AND 90) AS age FROM visits GROUP BY ward
