"""Which columns the tables of pg_catalog and information_schema have, as far as clients look at them.

Each column has a letter for its type: i a number, t a text, b yes or no, l a list of numbers, s one of texts.
Most of these tables are empty: clients ask for what we do not have, and are to hear that there is none.
"""

from __future__ import annotations

import re


def _read(text: str) -> dict[str, str]:
    """Columns by table; a line that begins with a gap belongs to the one before."""
    lines = re.sub(r"\n +", " ", text.strip()).split("\n")
    return {line.partition(" ")[0]: line.partition(" ")[2] for line in lines}


PG_CATALOG = _read("""
pg_namespace oid:i nspname:t nspowner:i nspacl:t
pg_class oid:i relname:t relnamespace:i reltype:i reloftype:i relowner:i relam:i relfilenode:i
    reltablespace:i relpages:i reltuples:i relallvisible:i reltoastrelid:i relhasindex:b relisshared:b
    relpersistence:t relkind:t relnatts:i relchecks:i relhasrules:b relhastriggers:b relhassubclass:b
    relrowsecurity:b relforcerowsecurity:b relispopulated:b relreplident:t relispartition:b relrewrite:i
    relfrozenxid:i relminmxid:i relacl:t reloptions:s relpartbound:t relhasoids:b
pg_attribute attrelid:i attname:t atttypid:i attstattarget:i attlen:i attnum:i attndims:i attcacheoff:i
    atttypmod:i attbyval:b attalign:t attstorage:t attcompression:t attnotnull:b atthasdef:b
    atthasmissing:b attidentity:t attgenerated:t attisdropped:b attislocal:b attinhcount:i
    attcollation:i attacl:t attoptions:s attfdwoptions:s attmissingval:t
pg_type oid:i typname:t typnamespace:i typowner:i typlen:i typbyval:b typtype:t typcategory:t
    typispreferred:b typisdefined:b typdelim:t typrelid:i typsubscript:i typelem:i typarray:i typinput:t
    typoutput:t typreceive:t typsend:t typmodin:t typmodout:t typanalyze:t typalign:t typstorage:t
    typnotnull:b typbasetype:i typtypmod:i typndims:i typcollation:i typdefaultbin:t typdefault:t
    typacl:t
pg_database oid:i datname:t datdba:i encoding:i datcollate:t datctype:t datistemplate:b datallowconn:b
    datconnlimit:i dattablespace:i datacl:t datlocprovider:t daticulocale:t
pg_roles oid:i rolname:t rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b
    rolreplication:b rolconnlimit:i rolvaliduntil:t rolbypassrls:b rolconfig:s rolpassword:t
pg_user usename:t usesysid:i usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:t valuntil:t
    useconfig:s
pg_description objoid:i classoid:i objsubid:i description:t
pg_settings name:t setting:t unit:t category:t short_desc:t context:t vartype:t source:t
pg_tables schemaname:t tablename:t tableowner:t tablespace:t hasindexes:b hasrules:b hastriggers:b
    rowsecurity:b
pg_attrdef oid:i adrelid:i adnum:i adbin:t
pg_index indexrelid:i indrelid:i indnatts:i indnkeyatts:i indisunique:b indisprimary:b indisexclusion:b
    indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b indisready:b indislive:b
    indisreplident:b indkey:l indcollation:l indclass:l indoption:l indexprs:t indpred:t
pg_constraint oid:i conname:t connamespace:i contype:t condeferrable:b condeferred:b convalidated:b
    conrelid:i contypid:i conindid:i conparentid:i confrelid:i confupdtype:t confdeltype:t
    confmatchtype:t conislocal:b coninhcount:i connoinherit:b conkey:l confkey:l conbin:t
pg_inherits inhrelid:i inhparent:i inhseqno:i inhdetachpending:b
pg_trigger oid:i tgrelid:i tgparentid:i tgname:t tgfoid:i tgtype:i tgenabled:t tgisinternal:b
    tgconstraint:i
pg_policy oid:i polname:t polrelid:i polcmd:t polpermissive:b polroles:l polqual:t polwithcheck:t
pg_statistic_ext oid:i stxrelid:i stxnamespace:i stxname:t stxowner:i stxstattarget:i stxkeys:l
    stxkind:s
pg_publication oid:i pubname:t pubowner:i puballtables:b pubinsert:b pubupdate:b pubdelete:b
    pubtruncate:b
pg_publication_rel oid:i prpubid:i prrelid:i prqual:t prattrs:l
pg_rewrite oid:i rulename:t ev_class:i ev_type:t ev_enabled:t is_instead:b
pg_am oid:i amname:t amhandler:t amtype:t
pg_collation oid:i collname:t collnamespace:i collprovider:t collencoding:i
pg_tablespace oid:i spcname:t spcowner:i spcacl:t spcoptions:s
pg_auth_members roleid:i member:i grantor:i admin_option:b
pg_proc oid:i proname:t pronamespace:i proowner:i prolang:i prokind:t proretset:b prorettype:i
    proargtypes:l proallargtypes:l proargmodes:s proargnames:s prosrc:t provolatile:t
pg_enum oid:i enumtypid:i enumsortorder:i enumlabel:t
pg_range rngtypid:i rngsubtype:i rngmultitypid:i rngcollation:i
pg_language oid:i lanname:t lanowner:i
pg_extension oid:i extname:t extowner:i extnamespace:i extversion:t
pg_foreign_table ftrelid:i ftserver:i ftoptions:s
pg_foreign_server oid:i srvname:t srvowner:i srvfdw:i srvtype:t srvversion:t
pg_foreign_data_wrapper oid:i fdwname:t fdwowner:i
pg_sequence seqrelid:i seqtypid:i seqstart:i seqincrement:i seqmax:i seqmin:i seqcache:i seqcycle:b
pg_depend classid:i objid:i objsubid:i refclassid:i refobjid:i refobjsubid:i deptype:t
pg_views schemaname:t viewname:t viewowner:t definition:t
pg_matviews schemaname:t matviewname:t matviewowner:t definition:t ispopulated:b
pg_indexes schemaname:t tablename:t indexname:t tablespace:t indexdef:t
pg_partitioned_table partrelid:i partstrat:t partnatts:i partdefid:i
pg_stat_activity datname:t pid:i usename:t application_name:t state:t query:t
pg_event_trigger oid:i evtname:t evtevent:t evtowner:i evtfoid:i evtenabled:t
pg_shdescription objoid:i classoid:i description:t
""")

INFORMATION_SCHEMA = _read("""
schemata catalog_name:t schema_name:t schema_owner:t
tables table_catalog:t table_schema:t table_name:t table_type:t is_insertable_into:t is_typed:t
columns table_catalog:t table_schema:t table_name:t column_name:t ordinal_position:i column_default:t
    is_nullable:t data_type:t character_maximum_length:t numeric_precision:t numeric_scale:t
    datetime_precision:t udt_catalog:t udt_schema:t udt_name:t is_identity:t is_generated:t
    is_updatable:t
views table_catalog:t table_schema:t table_name:t view_definition:t
table_constraints constraint_catalog:t constraint_schema:t constraint_name:t table_schema:t table_name:t
    constraint_type:t
key_column_usage constraint_schema:t constraint_name:t table_schema:t table_name:t column_name:t
    ordinal_position:i
routines specific_schema:t specific_name:t routine_schema:t routine_name:t routine_type:t
""")
