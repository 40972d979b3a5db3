package transcript

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/ip_types"
)

// Text writes a message on one line: its name, then the fields that are not zero, in the order of its definition.
// Prefixes are always there. Counters of the elements that follow are not.
func Text(m api.Message) string {
	b := []byte(m.GetMessageName())
	return string(appendFields(b, "", reflect.ValueOf(m).Elem()))
}

// fieldName takes a field's name, and that of the field that counts its elements, from govpp's tag:
// "fib_path[n_paths],name=paths".
func fieldName(f reflect.StructField) (name, counter string) {
	kind, rest, _ := strings.Cut(f.Tag.Get("binapi"), ",")
	for part := range strings.SplitSeq(rest, ",") {
		if n, ok := strings.CutPrefix(part, "name="); ok {
			name = n
		}
	}
	if _, in, ok := strings.Cut(kind, "["); ok && f.Type.Kind() == reflect.Slice {
		counter = strings.TrimSuffix(in, "]")
	}
	return name, counter
}

func appendFields(b []byte, path string, v reflect.Value) []byte {
	t := v.Type()
	counters := map[string]bool{}
	for i := range t.NumField() {
		if _, counter := fieldName(t.Field(i)); counter != "" {
			counters[counter] = true
		}
	}
	for i := range t.NumField() {
		name, _ := fieldName(t.Field(i))
		if name != "" && !counters[name] {
			b = appendField(b, path+name, v.Field(i))
		}
	}
	return b
}

func appendField(b []byte, path string, v reflect.Value) []byte {
	if text, known := special(v.Interface()); known {
		if text == "" {
			return b
		}
		return append(append(append(append(b, ' '), path...), '='), text...)
	}
	if v.IsZero() && v.Kind() != reflect.Struct {
		return b
	}
	put := func(text string) []byte { return append(append(append(append(b, ' '), path...), '='), text...) }
	switch v.Kind() {
	case reflect.Bool:
		return put("true")
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return put(number(v))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return put(strconv.FormatInt(v.Int(), 10))
	case reflect.Float64:
		return put(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	case reflect.String:
		return put(quoted(v.String()))
	case reflect.Struct:
		return appendFields(b, path+".", v)
	case reflect.Array, reflect.Slice:
		return appendElements(b, path, v)
	}
	panic(fmt.Sprintf("transcript: field %s of type %s", path, v.Type()))
}

func number(v reflect.Value) string {
	if v.Kind() == reflect.Uint32 && v.Uint() == 1<<32-1 {
		return "~0"
	}
	return strconv.FormatUint(v.Uint(), 10)
}

func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' || r == '*' }) {
		return s
	}
	return strconv.Quote(s)
}

func appendElements(b []byte, path string, v reflect.Value) []byte {
	switch v.Type().Elem().Kind() {
	case reflect.Uint8:
		raw := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(raw), v)
		if len(bytes.Trim(raw, "\x00")) == 0 {
			return b
		}
		return append(append(append(append(b, ' '), path...), '='), hex.EncodeToString(raw)...)
	case reflect.Struct:
		for i := range v.Len() {
			at := path + "[" + strconv.Itoa(i) + "]"
			before := len(b)
			b = appendFields(b, at+".", v.Index(i))
			if len(b) == before && v.Kind() == reflect.Slice {
				b = append(append(append(b, ' '), at...), "={}"...)
			}
		}
		return b
	}
	b = append(append(append(b, ' '), path...), '=')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, number(v.Index(i))...)
	}
	return b
}

// special writes addresses and MACs as people do; known is false for anything else, an empty text means zero.
func special(x any) (text string, known bool) {
	switch x := x.(type) {
	case ip_types.Address:
		if x == (ip_types.Address{}) {
			return "", true
		}
		return addressOf(x).String(), true
	case ip_types.Prefix:
		return addressOf(x.Address).String() + "/" + strconv.Itoa(int(x.Len)), true
	case ip_types.AddressWithPrefix:
		return addressOf(x.Address).String() + "/" + strconv.Itoa(int(x.Len)), true
	case ip_types.IP4AddressWithPrefix:
		if x == (ip_types.IP4AddressWithPrefix{}) {
			return "", true
		}
		return netip.AddrFrom4(x.Address).String() + "/" + strconv.Itoa(int(x.Len)), true
	case ip_types.IP6AddressWithPrefix:
		if x == (ip_types.IP6AddressWithPrefix{}) {
			return "", true
		}
		return netip.AddrFrom16(x.Address).String() + "/" + strconv.Itoa(int(x.Len)), true
	case ip_types.IP4Address:
		if x == (ip_types.IP4Address{}) {
			return "", true
		}
		return netip.AddrFrom4(x).String(), true
	case ip_types.IP6Address:
		if x == (ip_types.IP6Address{}) {
			return "", true
		}
		return netip.AddrFrom16(x).String(), true
	case ip_types.AddressUnion:
		return unionText(x), true
	case ethernet_types.MacAddress:
		if x == (ethernet_types.MacAddress{}) {
			return "", true
		}
		return x.String(), true
	}
	return "", false
}

// unionText writes 16 bytes whose family stands elsewhere: as IPv4 where only the first four are used.
func unionText(u ip_types.AddressUnion) string {
	if u == (ip_types.AddressUnion{}) {
		return ""
	}
	b := u.XXX_UnionData
	if [12]byte(b[4:]) == ([12]byte{}) {
		return netip.AddrFrom4([4]byte(b[:4])).String()
	}
	return netip.AddrFrom16(b).String()
}

func addressOf(a ip_types.Address) netip.Addr {
	if a.Af == ip_types.ADDRESS_IP6 {
		return netip.AddrFrom16(a.Un.XXX_UnionData)
	}
	return netip.AddrFrom4([4]byte(a.Un.XXX_UnionData[:4]))
}
