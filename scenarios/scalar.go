package scenarios

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// valueError says what is wrong with one value and what it most likely meant.
type valueError struct{ message, nearest string }

func (e *valueError) Error() string { return e.message }

func wrong(text, format string, args ...any) *valueError {
	return &valueError{message: strconv.Quote(text) + " " + fmt.Sprintf(format, args...)}
}

// setScalar reads text into v, a field of any scalar type. It is the only place that knows how a value is spelled.
func setScalar(v reflect.Value, tag reflect.StructTag, text string) *valueError {
	switch v.Type() {
	case typeDuration:
		return setDuration(v, text)
	case typePrefix:
		return setPrefix(v, tag, text)
	case typeAddr:
		return setAddr(v, text)
	}
	switch v.Kind() {
	case reflect.String:
		if err := checkText(v.Type(), tag, text); err != nil {
			return err
		}
		v.SetString(text)
		return nil
	case reflect.Bool:
		if text != "true" && text != "false" {
			return &valueError{wrong(text, "is not true or false").message, Nearest(text, []string{"true", "false"})}
		}
		v.SetBool(text == "true")
		return nil
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return setWhole(v, tag, text)
	case reflect.Float64:
		return setNumber(v, tag, text)
	}
	panic(fmt.Sprintf("scenarios: no scalar of type %s", v.Type()))
}

func setDuration(v reflect.Value, text string) *valueError {
	d, err := ParseDuration(text)
	if err != nil {
		e := wrong(text, "is not a duration such as 10s, 5m, 1h30m or 3d")
		if _, err := ParseDuration(text + "s"); err == nil {
			e.nearest = text + "s"
		}
		return e
	}
	if d < 0 {
		return wrong(text, "is negative")
	}
	v.SetInt(int64(d))
	return nil
}

func setPrefix(v reflect.Value, tag reflect.StructTag, text string) *valueError {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		if a, err := netip.ParseAddr(text); err == nil {
			return &valueError{wrong(text, "is an address, not a prefix").message, netip.PrefixFrom(a, naturalBits(a)).String()}
		}
		return wrong(text, "is not a prefix")
	}
	if !p.Addr().Is4() {
		return wrong(text, "is not an IPv4 prefix")
	}
	if tag.Get("host") != "true" && p != p.Masked() {
		return &valueError{wrong(text, "has host bits set").message, p.Masked().String()}
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

func setAddr(v reflect.Value, text string) *valueError {
	a, err := netip.ParseAddr(text)
	if err != nil {
		if p, err := netip.ParsePrefix(text); err == nil {
			return &valueError{wrong(text, "is a prefix, not an address").message, p.Addr().String()}
		}
		return wrong(text, "is not an address")
	}
	if !a.Is4() {
		return wrong(text, "is not an IPv4 address")
	}
	v.Set(reflect.ValueOf(a))
	return nil
}

func setWhole(v reflect.Value, tag reflect.StructTag, text string) *valueError {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return wrong(text, "is out of range")
	case err != nil:
		return wrong(text, "is not a whole number")
	}
	low, high := int64(0), int64(math.MaxInt64)
	if v.Kind() == reflect.Uint32 {
		high = math.MaxUint32
	}
	if s := tag.Get("min"); s != "" {
		low = mustWhole(s)
	}
	if s := tag.Get("max"); s != "" {
		high = mustWhole(s)
	}
	switch {
	case n < low:
		return &valueError{fmt.Sprintf("%d is less than %d", n, low), ""}
	case n > high:
		return &valueError{fmt.Sprintf("%d is more than %d", n, high), ""}
	case v.Kind() == reflect.Uint32:
		v.SetUint(uint64(n))
	default:
		v.SetInt(n)
	}
	return nil
}

func setNumber(v reflect.Value, tag reflect.StructTag, text string) *valueError {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xX_iInN") {
		return wrong(text, "is not a number")
	}
	low, high := mustNumber(tag.Get("min")), mustNumber(tag.Get("max"))
	switch {
	case f < low:
		return &valueError{fmt.Sprintf("%s is less than %g", text, low), ""}
	case f > high:
		return &valueError{fmt.Sprintf("%s is more than %g", text, high), ""}
	}
	v.SetFloat(f + 0) // the sum turns -0 into 0
	return nil
}

// mustWhole and mustNumber read bounds of our own tags.
func mustWhole(tag string) int64 {
	n, err := strconv.ParseInt(tag, 10, 64)
	if err != nil {
		panic("scenarios: bound " + strconv.Quote(tag) + " in a tag")
	}
	return n
}

func mustNumber(tag string) float64 {
	f, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic("scenarios: bound " + strconv.Quote(tag) + " in a tag")
	}
	return f
}

// formatScalar is the text that setScalar reads back.
func formatScalar(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return FormatDuration(x)
	case netip.Prefix:
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
