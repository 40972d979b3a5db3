package scenarios

import (
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// setScalar reads text into v, a field of any scalar type. It is the only place that knows how a value is spelled.
func setScalar(v reflect.Value, tag reflect.StructTag, text string) *strictyaml.ValueError {
	if done, err := setOwn(v, tag, text); done {
		return err
	}
	return strictyaml.Set(v, tag, text)
}

// setOwn reads the values that scenarios have beyond numbers and truth values.
func setOwn(v reflect.Value, tag reflect.StructTag, text string) (done bool, err *strictyaml.ValueError) {
	switch v.Type() {
	case typeDuration:
		return true, setDuration(v, text)
	case typePrefix:
		return true, setPrefix(v, tag, text)
	case typePair:
		return true, setPair(v, tag, text)
	case typeAddr:
		return true, setAddr(v, text)
	}
	if v.Kind() != reflect.String {
		return false, nil
	}
	if err := checkText(v.Type(), tag, text); err != nil {
		return true, err
	}
	v.SetString(text)
	return true, nil
}

func setDuration(v reflect.Value, text string) *strictyaml.ValueError {
	d, err := ParseDuration(text)
	if err != nil {
		e := strictyaml.Wrong(text, "is not a duration such as 10s, 5m, 1h30m or 3d")
		if _, err := ParseDuration(text + "s"); err == nil {
			e.Nearest = text + "s"
		}
		return e
	}
	if d < 0 {
		return strictyaml.Wrong(text, "is negative")
	}
	v.SetInt(int64(d))
	return nil
}

func setPrefix(v reflect.Value, tag reflect.StructTag, text string) *strictyaml.ValueError {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		if a, err := netip.ParseAddr(text); err == nil {
			return &strictyaml.ValueError{Message: strictyaml.Wrong(text, "is an address, not a prefix").Message, Nearest: netip.PrefixFrom(a, naturalBits(a)).String()}
		}
		return strictyaml.Wrong(text, "is not a prefix")
	}
	if p.Addr().Is4In6() {
		return strictyaml.Wrong(text, "is an IPv4 prefix in IPv6's clothes")
	}
	if tag.Get("host") != "true" && p != p.Masked() {
		return &strictyaml.ValueError{Message: strictyaml.Wrong(text, "has host bits set").Message, Nearest: p.Masked().String()}
	}
	v.Set(reflect.ValueOf(p))
	return nil
}

// naturalBits is the shortest length in whole bytes that leaves no host bits: 16 for 10.1.0.0.
func naturalBits(a netip.Addr) int {
	bits := a.BitLen()
	for bits > 8 && netip.PrefixFrom(a, bits-8).Masked().Addr() == a {
		bits -= 8
	}
	return bits
}

func setAddr(v reflect.Value, text string) *strictyaml.ValueError {
	a, err := netip.ParseAddr(text)
	if err != nil {
		if p, err := netip.ParsePrefix(text); err == nil {
			return &strictyaml.ValueError{Message: strictyaml.Wrong(text, "is a prefix, not an address").Message, Nearest: p.Addr().String()}
		}
		return strictyaml.Wrong(text, "is not an address")
	}
	if a.Is4In6() || a.Zone() != "" {
		return strictyaml.Wrong(text, "is no plain IPv4 or IPv6 address")
	}
	v.Set(reflect.ValueOf(a))
	return nil
}

// formatScalar is the text that setScalar reads back.
func formatScalar(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return FormatDuration(x)
	case netip.Prefix:
		return x.String()
	case CIDRPair:
		return x.String()
	case netip.Addr:
		return x.String()
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint32:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	}
	panic(fmt.Sprintf("scenarios: no scalar of type %s", v.Type()))
}
