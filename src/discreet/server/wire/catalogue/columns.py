"""The tables of ``pg_catalog`` and ``information_schema`` that programs look into: their columns.

Only what clients read is here; a column that is missing is refused by name, and is one word to add.
"""

from __future__ import annotations

import re

_NAMED = {
    "bool": "BOOLEAN",
    "int": "INTEGER",
    "big": "BIGINT",
    "small": "SMALLINT",
    "oid": "UINTEGER",
    "texts": "VARCHAR[]",
    "ints": "BIGINT[]",
    "real": "DOUBLE",
}

_CATALOGUE = """
pg_namespace oid:oid nspname nspowner:oid nspacl:texts
pg_class oid:oid relname relnamespace:oid reltype:oid reloftype:oid relowner:oid relam:oid
    relfilenode:oid reltablespace:oid relpages:int reltuples:real relallvisible:int
    reltoastrelid:oid relhasindex:bool relisshared:bool relpersistence relkind relnatts:small
    relchecks:small relhasrules:bool relhastriggers:bool relhassubclass:bool relrowsecurity:bool
    relforcerowsecurity:bool relispopulated:bool relreplident relispartition:bool relhasoids:bool
    relacl:texts reloptions:texts relpartbound
pg_attribute attrelid:oid attname atttypid:oid attstattarget:int attlen:small attnum:small
    attndims:int atttypmod:int attnotnull:bool atthasdef:bool atthasmissing:bool attidentity
    attgenerated attisdropped:bool attislocal:bool attinhcount:int attcollation:oid attstorage
    attcompression attacl:texts attoptions:texts attfdwoptions:texts
pg_type oid:oid typname typnamespace:oid typowner:oid typlen:small typbyval:bool typtype
    typcategory typispreferred:bool typisdefined:bool typdelim typrelid:oid typelem:oid
    typarray:oid typnotnull:bool typbasetype:oid typtypmod:int typndims:int typcollation:oid
    typdefault typinput:oid typoutput:oid typreceive:oid typsend:oid
pg_description objoid:oid classoid:oid objsubid:int description
pg_database oid:oid datname datdba:oid encoding:int datcollate datctype datistemplate:bool
    datallowconn:bool datconnlimit:int dattablespace:oid datlocprovider daticulocale datacl:texts
pg_roles oid:oid rolname rolsuper:bool rolinherit:bool rolcreaterole:bool rolcreatedb:bool
    rolcanlogin:bool rolreplication:bool rolconnlimit:int rolvaliduntil rolbypassrls:bool
    rolconfig:texts
pg_user usename usesysid:oid usesuper:bool usecreatedb:bool
pg_am oid:oid amname amhandler:oid amtype
pg_tables schemaname tablename tableowner tablespace hasindexes:bool hasrules:bool
    hastriggers:bool rowsecurity:bool
pg_settings name setting unit category short_desc context vartype source
pg_attrdef oid:oid adrelid:oid adnum:small adbin
pg_index indexrelid:oid indrelid:oid indnatts:small indnkeyatts:small indisunique:bool
    indnullsnotdistinct:bool indisprimary:bool indisexclusion:bool indimmediate:bool
    indisclustered:bool indisvalid:bool indisready:bool indislive:bool indisreplident:bool
    indkey:ints indcollation:ints indclass:ints indoption:ints indexprs indpred
pg_constraint oid:oid conname connamespace:oid contype condeferrable:bool condeferred:bool
    convalidated:bool conrelid:oid contypid:oid conindid:oid conparentid:oid confrelid:oid
    confupdtype confdeltype confmatchtype conislocal:bool coninhcount:int connoinherit:bool
    conkey:ints confkey:ints conpfeqop:ints conbin
pg_inherits inhrelid:oid inhparent:oid inhseqno:int inhdetachpending:bool
pg_trigger oid:oid tgrelid:oid tgparentid:oid tgname tgfoid:oid tgtype:small tgenabled
    tgisinternal:bool tgconstraint:oid tgdeferrable:bool tginitdeferred:bool
pg_policy oid:oid polname polrelid:oid polcmd polpermissive:bool polroles:ints polqual
    polwithcheck
pg_rewrite oid:oid rulename ev_class:oid ev_type ev_enabled is_instead:bool
pg_statistic_ext oid:oid stxrelid:oid stxname stxnamespace:oid stxowner:oid stxstattarget:int
    stxkeys:ints stxkind:texts
pg_publication oid:oid pubname pubowner:oid puballtables:bool pubinsert:bool pubupdate:bool
    pubdelete:bool pubtruncate:bool pubviaroot:bool
pg_publication_rel oid:oid prpubid:oid prrelid:oid prqual prattrs:ints
pg_publication_namespace oid:oid pnpubid:oid pnnspid:oid
pg_foreign_table ftrelid:oid ftserver:oid ftoptions:texts
pg_foreign_server oid:oid srvname srvowner:oid srvfdw:oid
pg_partitioned_table partrelid:oid partstrat partnatts:small partdefid:oid
pg_sequence seqrelid:oid seqtypid:oid seqstart:big seqincrement:big seqmax:big seqmin:big
    seqcache:big seqcycle:bool
pg_sequences schemaname sequencename
pg_enum oid:oid enumtypid:oid enumsortorder:real enumlabel
pg_range rngtypid:oid rngsubtype:oid rngmultitypid:oid
pg_collation oid:oid collname collnamespace:oid collprovider collencoding:int
pg_proc oid:oid proname pronamespace:oid proowner:oid prokind prorettype:oid proargtypes:ints
pg_tablespace oid:oid spcname spcowner:oid
pg_extension oid:oid extname extowner:oid extnamespace:oid extversion
pg_depend classid:oid objid:oid objsubid:int refclassid:oid refobjid:oid refobjsubid:int deptype
pg_shdescription objoid:oid classoid:oid description
pg_opclass oid:oid opcname opcmethod:oid opcnamespace:oid opcdefault:bool opcintype:oid
pg_auth_members roleid:oid member:oid grantor:oid admin_option:bool
pg_views schemaname viewname viewowner definition
pg_matviews schemaname matviewname matviewowner definition
pg_stat_user_tables relid:oid schemaname relname n_live_tup:big
pg_event_trigger oid:oid evtname evtevent
pg_largeobject_metadata oid:oid lomowner:oid
"""

_INFORMATION = """
schemata catalog_name schema_name schema_owner
tables table_catalog table_schema table_name table_type is_insertable_into is_typed
columns table_catalog table_schema table_name column_name ordinal_position:int column_default
    is_nullable data_type character_maximum_length:int character_octet_length:int
    numeric_precision:int numeric_precision_radix:int numeric_scale:int datetime_precision:int
    udt_catalog udt_schema udt_name is_identity is_generated is_updatable collation_name
views table_catalog table_schema table_name view_definition
table_constraints constraint_catalog constraint_schema constraint_name table_catalog table_schema
    table_name constraint_type is_deferrable initially_deferred
key_column_usage constraint_catalog constraint_schema constraint_name table_catalog table_schema
    table_name column_name ordinal_position:int position_in_unique_constraint:int
referential_constraints constraint_catalog constraint_schema constraint_name
    unique_constraint_schema unique_constraint_name match_option update_rule delete_rule
constraint_column_usage table_catalog table_schema table_name column_name constraint_catalog
    constraint_schema constraint_name
"""


def _parse_table_columns(text: str, schema: str) -> dict[tuple[str, str], dict[str, str]]:
    found = {}
    for line in re.split(r"\n(?! )", text.strip()):
        name, *columns = line.split()
        pairs = (each.partition(":") for each in columns)
        found[schema, name] = {column: _NAMED.get(kind, "VARCHAR") for column, _, kind in pairs}
    return found


COLUMNS: dict[tuple[str, str], dict[str, str]] = {
    **_parse_table_columns(_CATALOGUE, "pg_catalog"),
    **_parse_table_columns(_INFORMATION, "information_schema"),
}
"""The columns of each table, by schema and name, with their types in the engine."""
