"""Files of every type that pyarrow, pandas, Polars and DuckDB write beside a text.

All notes are invented. Used by interop.py; the Go tests of stages/read read
the files that `interop.py --fixtures` wrote.
"""

import datetime as dt
import decimal
import uuid

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

N = 7


def write(out):
    """Writes the files into a folder."""
    ids=pa.array([f"n{i}" for i in range(N)]); text=pa.array([f"nota inventada {i}" for i in range(N)])
    D=decimal.Decimal
    def some(values): # every third is null
        return [None if i%3==1 else v for i,v in enumerate((values*N)[:N])]
    t0=dt.datetime(2024,3,31,23,59,59,123456)
    cols={
     'null': pa.nulls(N), 'bool': pa.array(some([True,False])),
     **{t: pa.array(some([1,-2,3] if t[0]=='i' else [1,2,3]), getattr(pa,t)()) for t in 'int8 int16 int32 int64 uint8 uint16 uint32 uint64'.split()},
     'half': pa.array(some([1.5,-2.25]), pa.float16()) , 'float': pa.array(some([1.5,float('nan')]), pa.float32()), 'double': pa.array(some([1.5,-0.0])),
     'string': pa.array(some(['a','ñ',''])), 'large_string': pa.array(some(['a','ñ']), pa.large_string()), 'string_view': pa.array(some(['a','ñ']), pa.string_view()),
     'dictionary': pa.array(some(['a','b'])).dictionary_encode(), 'binary': pa.array(some([b'\xff\x00a', b''])), 'large_binary': pa.array(some([b'\xff']), pa.large_binary()), 'fixed': pa.array(some([b'\x00\x01\x02']), pa.binary(3)),
     'decimal_small': pa.array(some([D('1.23'),D('-4.56')]), pa.decimal128(7,2)), 'decimal_wide': pa.array(some([D('1'*20+'.5')]), pa.decimal128(38,5)), 'decimal256': pa.array(some([D('-1.5')]), pa.decimal256(50,1)),
     'date32': pa.array(some([dt.date(1890,1,1), dt.date(2024,2,29)])), 'date64': pa.array(some([dt.date(2024,2,29)]), pa.date64()),
     'time_s': pa.array(some([dt.time(1,2,3)]), pa.time32('s')), 'time_ms': pa.array(some([dt.time(1,2,3,4000)]), pa.time32('ms')), 'time_us': pa.array(some([dt.time(1,2,3,4)]), pa.time64('us')), 'time_ns': pa.array(some([1,86399999999999]), pa.time64('ns')),
     'duration': pa.array(some([5,-7]), pa.duration('us')),
     'list': pa.array(some([[1,None,3],[]])), 'large_list': pa.array(some([['x',None],[]]), pa.large_list(pa.string())), 'fixed_list': pa.array(some([[1,2]]), pa.list_(pa.int32(),2)),
     'struct': pa.array(some([{'x':1,'y':'a'},{'x':None,'y':None}])), 'map': pa.array(some([[('k',1),('l',None)],[]]), pa.map_(pa.string(), pa.int64())),
     'deep': pa.array(some([[{'a':[[1],[]],'b':{'c':b'z'}},None],[]])),
     'required': pa.array(list(range(N))), 'list_of_null': pa.array([[None],[]]*3+[[None]], pa.list_(pa.null())),
    }
    for u in 's ms us ns'.split():
        for z in (None,'UTC','Europe/Madrid','+02:00'):
            cols[f'ts_{u}_{z}'] = pa.array(some([1711929599, -1]), pa.timestamp(u, z))
    for u in ('uuid',):
        cols['uuid']=pa.array(some([uuid.UUID(int=5).bytes]), pa.binary(16))
        if hasattr(pa,'uuid'): cols['uuid_ext']=pa.ExtensionArray.from_storage(pa.uuid(), pa.array(some([uuid.UUID(int=5).bytes]), pa.binary(16)))
    if hasattr(pa,'json_'): cols['json']=pa.ExtensionArray.from_storage(pa.json_(), pa.array(some(['{"a":1}'])))
    base={'note_id':ids,'text':text}
    schema=pa.schema([pa.field(k, v.type, nullable=k!='required') for k,v in {**base,**cols}.items()])
    t=pa.table({**base,**cols}, schema=schema)
    pq.write_table(t, out+'/pyarrow.parquet')
    pq.write_table(t, out+'/pyarrow-v1.parquet', version='2.4', coerce_timestamps='us', allow_truncated_timestamps=True, data_page_version='2.0', compression='snappy', write_page_checksum=True, use_dictionary=False, row_group_size=4)
    pq.write_table(t.select(['note_id','text','ts_ns_None','ts_us_UTC']), out+'/pyarrow-int96.parquet', use_deprecated_int96_timestamps=True)
    # pandas
    df=pd.DataFrame({'note_id':[f"n{i}" for i in range(N)],'text':[f"nota inventada {i}" for i in range(N)]})
    df['nothing']=None; df['category']=pd.Categorical(some(['a','b'])); df['when']=pd.to_datetime(some(['2024-03-31 23:59:59.123456789'])); df['zoned']=df['when'].dt.tz_localize('America/New_York')
    df['Int64']=pd.array(some([1,2]),dtype='Int64'); df['boolean']=pd.array(some([True]),dtype='boolean'); df['delta']=pd.to_timedelta(some(['1h'])); df['period']=pd.period_range('2024-01',periods=N,freq='M'); df['interval']=pd.interval_range(0,N); df['object']=some([{'a':1}]); df['bytes']=some([b'x'])
    df['string']=pd.array(some(['a']),dtype='string'); df['objdec']=some([D('1.10')]); df['date']=some([dt.date(2024,1,1)]); df['time']=some([dt.time(1,2)])
    df.set_index(pd.Index(range(10,10+N),name='row')).to_parquet(out+'/pandas.parquet')
    # polars
    p=pl.DataFrame({'note_id':[f"n{i}" for i in range(N)],'text':[f"nota inventada {i}" for i in range(N)]}).with_columns(
     nothing=pl.Series([None]*N), categorical=pl.Series(some(['a','b']),dtype=pl.Categorical), enum=pl.Series(some(['a','b']),dtype=pl.Enum(['a','b'])), dt_ms=pl.Series(some([t0]),dtype=pl.Datetime('ms')), dt_us=pl.Series(some([t0]),dtype=pl.Datetime('us')), dt_ns=pl.Series(some([t0]),dtype=pl.Datetime('ns')), dt_zone=pl.Series(some([t0]),dtype=pl.Datetime('us')).dt.replace_time_zone('Europe/Madrid'),
     date=pl.Series(some([t0.date()])), time=pl.Series(some([t0.time()])), dur=pl.Series(some([dt.timedelta(hours=1)])), dec=pl.Series(some([D('1.25')]),dtype=pl.Decimal(10,2)), u8=pl.Series(some([1]),dtype=pl.UInt8), i8=pl.Series(some([-1]),dtype=pl.Int8), u64=pl.Series(some([2**63]),dtype=pl.UInt64), i128=pl.Series(some([5]),dtype=pl.Int64), bin=pl.Series(some([b'\xff'])), lst=pl.Series(some([[1,None],[]])), arr=pl.Series(some([[1,2]]),dtype=pl.Array(pl.Int32,2)), strct=pl.Series(some([{'a':1,'b':['x']}])), f32=pl.Series(some([1.5]),dtype=pl.Float32), boo=pl.Series(some([True])))
    p.write_parquet(out+'/polars.parquet')
    p.write_parquet(out+'/polars-plain.parquet', compression='uncompressed')
    # duckdb
    db=duckdb.connect()
    db.execute("set timezone='Europe/Madrid'")
    db.execute("""create table t as select 'n'||i as note_id, 'nota inventada '||i as text, 1::int as "int",
     case when i%3<>1 then true end as bool, case when i%3<>1 then -5::tinyint end as i8, case when i%3<>1 then 5::utinyint end as u8, case when i%3<>1 then 5::smallint end as i16, case when i%3<>1 then 5::usmallint end as u16, case when i%3<>1 then 5::uinteger end as u32, case when i%3<>1 then 5::ubigint end as u64, case when i%3<>1 then 170141183460469231731687303715884105727::hugeint end as huge,
     case when i%3<>1 then 1.5::float end as f, case when i%3<>1 then 1.5::double end as d, case when i%3<>1 then 1.25::decimal(4,2) end as dec4, case when i%3<>1 then 1.25::decimal(18,2) end as dec18, case when i%3<>1 then 1.25::decimal(38,2) end as dec38,
     case when i%3<>1 then date '2024-02-29' end as da, case when i%3<>1 then time '01:02:03.000004' end as ti, case when i%3<>1 then timetz '01:02:03+02' end as titz, case when i%3<>1 then timestamp '2024-03-31 23:59:59.123456' end as ts, case when i%3<>1 then timestamptz '2024-03-31 23:59:59+02' end as tstz, case when i%3<>1 then timestamp_s '2024-03-31 23:59:59' end as ts_s, case when i%3<>1 then timestamp_ms '2024-03-31 23:59:59.123' end as ts_ms, case when i%3<>1 then timestamp_ns '2024-03-31 23:59:59.123456789' end as ts_ns,
     case when i%3<>1 then interval '1 month 2 days 3 seconds' end as iv, case when i%3<>1 then uuid '00000000-0000-0000-0000-000000000005' end as u, case when i%3<>1 then '\\xFF'::blob end as bl, case when i%3<>1 then 'b'::enum('a','b') end as en, null as nothing,
     case when i%3<>1 then [1,null,3] end as li, case when i%3<>1 then {'a':1,'b':['x',null]} end as st, case when i%3<>1 then map{'k':1,'l':null} end as ma, case when i%3<>1 then '{"a":1}'::json end as js, case when i%3<>1 then '101'::bit end as bi, case when i%3<>1 then [[1],[]] end as lili
     from range(7) r(i)""")
    for v,c in (('V1','snappy'),('V2','brotli')):
        db.execute(f"copy t to '{out}/duckdb-{v}.parquet' (format parquet, parquet_version {v}, compression {c}, row_group_size 2048)")
