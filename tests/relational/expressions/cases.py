"""One piece of SQL for each way in which a function is used, over the columns of ``engine``."""

from __future__ import annotations

ARITHMETIC = (
    *("w + v", "w - v", "w * v", "w / v", "w // v", "w % v", "-w", "abs(w)", "sign(w)"),
    *("i + j", "i - j", "i * j", "i / j", "i // j", "i % j", "mod(i, 7)", "i // -3", "w % -1"),
    *("x + y", "x - y", "x * y", "x / y", "x % y", "-x", "abs(x)", "sign(x)", "x * x"),
    *("a + b", "a * b", "a / b", "b / a", "a % b", "a * a", "i * i", "x + w", "1 / (1 / x)"),
    *("x + y - x * y / 2", "x / (y / x)", "(x % 2) % (y % 3)", "abs(-x * y)", "-(-x)", "x - -2.5"),
    *("2000000000 + 2000000000", "1 / 0", "5 % 0", "5 // 0", "0.1 + 0.2", "-(-5)", "null + 1"),
)
ROUNDING = (
    *("floor(x)", "ceil(x)", "trunc(x)", "round(x)", "floor(a)", "ceil(a)", "trunc(a)", "round(a)"),
    *("round(x, 2)", "round(a, 2)", "round(a, -1)", "round(x, -3)", "round(w, -3)", "round(i, -2)"),
    *("round(w, 2)", "floor(w)", "round(a, 15)", "floor(a / 10) * 10", "floor(sqrt(a))"),
)
ROOTS = ("sqrt(x)", "sqrt(a)", "sqrt(b)", "sqrt(x / y)")
POWERS = (
    *("ln(x)", "ln(a)", "ln(b)", "log10(x)", "log(b)", "log2(x)", "log2(a)", "exp(x)", "exp(a)"),
    *("power(x, y)", "power(a, 2)", "power(a, 3)", "power(a, -1)", "power(a, 0.5)", "power(b, a)"),
    *("a ^ 2", "power(b, -2)", "sqrt(ln(x))", "exp(-x * x)", "ln(exp(a) + 1)"),
)
COMPARISON = (
    *("w = v", "x <> y", "w < x", "x <= y", "s > t", "s >= t", "d > m", "m <= n", "p = q"),
    *("x is distinct from y", "s is not distinct from t", "w between v and i", "x between 0 and y"),
    *("x in (0, 1, 2.5)", "s in ('a', 'é')", "w not in (1, 2)", "w > 9223372036854775806"),
    *("w = 99999999999999999999", "-9223372036854775808 < w", "s = null", "e > '2020-06-01'"),
    *("m >= '2020-06-01'", "d between '2020-01-01' and '2020-12-31'", "d in ('2020-02-29')"),
)
LOGIC = (
    *("p and q", "p or q", "p or q or x > 0", "not p", "p and q and s = t", "x is null"),
    *(
        "s is not null",
        "p is true",
        "p is not true",
        "p is false",
        "p is not false",
        "p is unknown",
    ),
)
CHOICE = (
    *("coalesce(w, v, 0)", "coalesce(x, w)", "coalesce(null, s)", "ifnull(d, e)", "nullif(x, y)"),
    *("nullif(j, 3)", "nullif(s, 'a')", "least(w, v)", "least(a, b, x)", "greatest(i, j)"),
    *("greatest(s, t)", "least(d, m)", "least(greatest(x, 0), 100)", "coalesce(x / y, 0)"),
    *("case when x > 0 then 'pos' when x < 0 then 'neg' end", "case j when 1 then 1.5 else i end"),
    *("if(p, w, v)", "case when null then 1 else 2 end", "case when p then x / y else 0 end"),
)
CASTS = (
    *("cast(s as bigint)", "cast(s as double)", "cast(s as boolean)", "cast(s as date)"),
    *("cast(s as timestamp)", "cast(w as double)", "cast(w as varchar)", "cast(w as boolean)"),
    *("cast(x as bigint)", "cast(a as integer)", "cast(x as varchar)", "cast(p as integer)"),
    *("cast(p as varchar)", "cast(d as varchar)", "cast(m as varchar)", "cast(d as timestamp)"),
    *("cast(m as date)", "cast(n as date)", "try_cast(s as integer)", "w::varchar::bigint"),
    *("cast(cast(x as varchar) as double)", "cast(x * 1e18 as bigint)", "try_cast('x' as bigint)"),
)
TEXT = (
    *("lower(s)", "upper(s)", "upper(c)", "length(s)", "length(c)", "trim(s)", "ltrim(s)"),
    *(
        "rtrim(s)",
        "trim(s, 'a1')",
        "ltrim(s, '')",
        "trim(leading 'h' from s)",
        "substring(s, 2, 3)",
    ),
    *("substring(s, 1)", "substring(s, 3, 0)", "left(s, 2)", "s || t", "concat(s, t, 'x')"),
    *("c || '-' || c", "replace(s, 'a', 'b')", "replace(s, '', '')", "replace(s, 'll', 'L')"),
    *("s like 'a%'", "s like '%a%'", "s like '_'", "s like 'a!%b' escape '!'", "s like '%%a'"),
    *("s like '%!_%' escape '!'", "s like 'a!b'", r"s like '\'", "s not like '%1%'", "s like ''"),
    *("s ilike 'É%'", "s like '%l%o%'", "s like '%_l%o_%'", "starts_with(s, t)", "contains(s, t)"),
    *("ends_with(s, 'a')", "prefix(s, 'a')", "suffix(s, t)", "s like 'it''s'"),
)
MATCHES = (
    *("reverse(s)", "reverse(c)", "reverse(s || t)", "concat_ws('-', s, t, c)", "concat_ws('', s)"),
    *("regexp_matches(s, 'a')", "regexp_matches(s, '^a')", "regexp_matches(s, 'l+o$')"),
    *(r"regexp_matches(s, '\d')", r"regexp_matches(s, '^\w+$')", r"regexp_matches(s, '\s')"),
    *("regexp_matches(s, '[^a-z]')", "regexp_matches(s, '^.$')", "regexp_like(s, '(he|a).*[lo]')"),
    *(
        "regexp_contains(s, '[éa]{2,3}')",
        r"regexp_matches(s, '\.|-|%|_')",
        "regexp_matches(s, '日?b')",
    ),
    *(
        r"regexp_matches(s, '[\]\[\\^-]')",
        r"regexp_matches(s, '\n|\t')",
        r"regexp_matches(s, '^\W*$')",
    ),
)
PARTS = (
    *(
        "right(s, 2)",
        "right(s, 0)",
        "right(c, 3)",
        "lpad(s, 5, '0')",
        "lpad(c, 2)",
        "rpad(s, 4, 'é')",
    ),
    *(
        "rpad(s, 0, 'x')",
        "split_part(s, 'a', 2)",
        "split_part(s, 'll', 1)",
        "split_part(c, '-', 9)",
    ),
    *("position('a' in s)", "strpos(s, t)", "instr(s, 'é')", "position('' in s)", "strpos(c, s)"),
)
FORMATS = (
    *("dayname(d)", "dayname(m)", "monthname(d)", "monthname(e)", "last_day(d)", "last_day(n)"),
    *("epoch(m)", "epoch(d)", "strftime(d, '%Y-%m')", "strftime(m, '%d.%m.%Y %H:%M:%S')"),
    *("strftime(e, '%F')", "strftime(n, '%T %p %I')", "strftime(d, '%a %b %A %B %j %u %w %V %y')"),
    *("strftime(d, '100%%')", "strftime(d, '')", "strptime('2024-02-29', '%Y-%m-%d')"),
    *("try_strptime(s, '%Y-%m-%d')", "try_strptime(strftime(d, '%d.%m.%Y'), '%d.%m.%Y')"),
    *("try_strptime(strftime(m, '%Y%m%d %H%M%S'), '%Y%m%d %H%M%S')", "strptime(s, '%m/%d/%Y')"),
    *("try_strptime('3.4.2024', '%d.%m.%Y')", "try_strptime('31.2.2024', '%d.%m.%Y')"),
    *("try_strptime('2024-1-5 07:08', '%Y-%m-%d %H:%M')", "try_strptime('24-01-05', '%Y-%m-%d')"),
    *("coalesce(try_strptime(s, '%Y-%m-%d'), try_strptime(s, '%d.%m.%Y'))", "pi()", "radians(a)"),
    *("degrees(x)", "degrees(pi())", "radians(180)"),
)
ANGLES = (
    *("sin(x)", "cos(x)", "tan(a)", "atan(x)", "asin(a / 100)", "acos(x)", "acos(cos(a))"),
    *("sin(x * y)", "asin(x)", "sqrt(1 - cos(a))"),
)
CALENDAR = (
    *("year(d)", "year(e)", "month(d)", "day(d)", "quarter(m)", "week(d)", "dow(d)", "isodow(m)"),
    *("dayofyear(d)", "hour(m)", "minute(m)", "second(m)", "extract(week from m)", "hour(d)"),
    *(f"date_trunc('{unit}', d)" for unit in ("year", "quarter", "month", "week", "day", "hour")),
    *(f"date_trunc('{unit}', m)" for unit in ("year", "quarter", "month", "week", "day")),
    *(f"date_trunc('{unit}', n)" for unit in ("hour", "minute", "second", "month", "week")),
    *(f"date_trunc('{unit}', e)" for unit in ("year", "quarter", "month", "week", "day")),
    *(f"date_diff('{unit}', d, e)" for unit in ("year", "quarter", "month", "week", "day", "hour")),
    *(f"date_diff('{unit}', m, n)" for unit in ("week", "day", "hour", "minute", "second")),
    *("d + interval 1 day", "d - interval 1 month", "e + interval 3 month", "e + 5", "e - 5"),
    *("d - e", "d + interval 100 year", "m + interval 5 hour", "m - interval 90 minute"),
    *(
        "d + interval 5 hour",
        "n + interval '2 weeks'",
        "m + interval 1 month",
        "e - interval 1 week",
    ),
    *("date_add(d, interval 1 day)", "d - interval 9999 year", "make_date(i, j, 5)", "d + 3660000"),
    *("make_date(w, v, w)", "make_date(2020, j, 31)", "make_date(2020 + j, 2, 29)", "d - d"),
)
BINS = (
    *("bin(a, 0, 100, 10)", "bin(x, 0, 1, 10)", "bin(a, -100, 100, 7)", "bin(i, 0, 1000, 10)"),
    *("bin(w, -9223372036854775, 9223372036854775, 3)", "bin(j, 0, 7, 7)", "bin(a, 0.5, 99.5, 3)"),
    *("width_bucket(a, 0, 50, 5)", "width_bucket(x, 0, 1, 10)", "width_bucket(w, 0, 10, 10)"),
    *("bin(x, -1e300, 1e300, 1000)", "bin(w, -4611686018427387903, 4611686018427387903, 2)"),
)

EXACT = (
    *(*ARITHMETIC, *ROUNDING, *ROOTS, *COMPARISON, *LOGIC, *CHOICE, *CASTS),
    *(*TEXT, *MATCHES, *CALENDAR, *BINS, *PARTS, *FORMATS),
)
"""Where DuckDB and the interpreter agree to the last bit."""

NEARLY = (*POWERS, *ANGLES)
"""Where the last places come from a mathematical library."""
