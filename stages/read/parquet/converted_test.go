package parquet

import (
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// TestConverted has what the words of old writers mean.
func TestConverted(t *testing.T) {
	want := map[deprecated.ConvertedType]format.LogicalTypeValue{
		deprecated.UTF8: &format.StringType{}, deprecated.Map: &format.MapType{}, deprecated.List: &format.ListType{},
		deprecated.Enum: &format.EnumType{},
		deprecated.Date: &format.DateType{}, deprecated.Json: &format.JsonType{}, deprecated.Bson: &format.BsonType{},
		deprecated.TimeMillis:      &format.TimeType{IsAdjustedToUTC: true, Unit: parquet.Millisecond.TimeUnit()},
		deprecated.TimeMicros:      &format.TimeType{IsAdjustedToUTC: true, Unit: parquet.Microsecond.TimeUnit()},
		deprecated.TimestampMillis: &format.TimestampType{IsAdjustedToUTC: true, Unit: parquet.Millisecond.TimeUnit()},
		deprecated.TimestampMicros: &format.TimestampType{IsAdjustedToUTC: true, Unit: parquet.Microsecond.TimeUnit()},
		deprecated.Uint8:           &format.IntType{BitWidth: 8}, deprecated.Uint16: &format.IntType{BitWidth: 16},
		deprecated.Uint32: &format.IntType{BitWidth: 32}, deprecated.Uint64: &format.IntType{BitWidth: 64},
		deprecated.Int8: &format.IntType{BitWidth: 8, IsSigned: true}, deprecated.Int16: &format.IntType{BitWidth: 16, IsSigned: true},
		deprecated.Int32: &format.IntType{BitWidth: 32, IsSigned: true}, deprecated.Int64: &format.IntType{BitWidth: 64, IsSigned: true},
	}
	if !reflect.DeepEqual(converted, want) {
		t.Errorf("%v, want %v", converted, want)
	}
}
