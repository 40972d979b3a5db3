package transcript

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/ip_types"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// elementsMax is how many elements a list in a line has at most: VPP's own limit on paths.
const elementsMax = 255

// known are the messages that can be read back, by name.
func known() map[string]api.Message {
	by := map[string]api.Message{}
	for _, x := range vppmodel.Exchanges() {
		for _, m := range []api.Message{x.Request, x.Details, x.Reply} {
			if m != nil {
				by[m.GetMessageName()] = m
			}
		}
	}
	for _, m := range vppmodel.Events() {
		by[m.GetMessageName()] = m
	}
	return by
}

// Parse reads what Text wrote, for messages that the modelled VPP speaks. An error names the word, and the nearest
// valid one.
func Parse(line string) (api.Message, error) {
	words, err := split(line)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("no message")
	}
	by := known()
	kind, ok := by[words[0]]
	if !ok {
		names := make([]string, 0, len(by))
		for n := range by { // in any order: one of them is the nearest
			names = append(names, n)
		}
		return nil, fmt.Errorf("unknown message %q%s", words[0], didYouMean(words[0], names))
	}
	m := reflect.New(reflect.TypeOf(kind).Elem())
	for _, w := range words[1:] {
		path, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no field=value", w)
		}
		if err := set(m.Elem(), path, value); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return m.Interface().(api.Message), nil
}

func didYouMean(word string, candidates []string) string {
	if near := strictyaml.Nearest(word, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// split parts a line at spaces outside quotes; a quoted value keeps its quotes.
func split(line string) ([]string, error) {
	var words []string
	for rest := strings.TrimLeft(line, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		end := strings.IndexByte(rest, ' ')
		if q := strings.IndexByte(rest, '"'); q >= 0 && (end < 0 || q < end) {
			quote, err := strconv.QuotedPrefix(rest[q:])
			if err != nil {
				return nil, fmt.Errorf("unclosed quote in %q", rest)
			}
			end = q + len(quote)
			if end < len(rest) && rest[end] != ' ' {
				return nil, fmt.Errorf("something sticks to the quote in %q", rest)
			}
		} else if end < 0 {
			end = len(rest)
		}
		words, rest = append(words, rest[:end]), rest[end:]
	}
	return words, nil
}

// set stores one value: path is name, name.name or name[number].name.
func set(v reflect.Value, path, value string) error {
	head, rest, nested := strings.Cut(path, ".")
	at, element := -1, false
	if i := strings.IndexByte(head, '['); i >= 0 {
		n, err := strconv.ParseUint(strings.TrimSuffix(head[i+1:], "]"), 10, 8)
		if err != nil || !strings.HasSuffix(head, "]") || n >= elementsMax {
			return fmt.Errorf("%q is no element", head)
		}
		head, at, element = head[:i], int(n), true
	}
	f, err := field(v, head)
	if err != nil {
		return err
	}
	if element {
		if f, err = elementOf(f, at); err != nil {
			return err
		}
		if value == "{}" && !nested {
			return nil
		}
	}
	if nested {
		if _, plain := special(f.Interface()); plain || f.Kind() != reflect.Struct {
			return fmt.Errorf("%s has no fields", head)
		}
		return set(f, rest, value)
	}
	return store(f, value)
}

func field(v reflect.Value, name string) (reflect.Value, error) {
	var names []string
	for i := range v.NumField() {
		n, _ := fieldName(v.Type().Field(i))
		if n == name && n != "" {
			return v.Field(i), nil
		}
		names = append(names, n)
	}
	return v, fmt.Errorf("unknown field %q%s", name, didYouMean(name, names))
}

// elementOf is an element of a list of structs, which grows by one at most.
func elementOf(f reflect.Value, at int) (reflect.Value, error) {
	switch {
	case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct && at <= f.Len():
		if at == f.Len() {
			f.Set(reflect.Append(f, reflect.Zero(f.Type().Elem())))
		}
	case f.Kind() == reflect.Array && f.Type().Elem().Kind() == reflect.Struct && at < f.Len():
	default:
		return f, fmt.Errorf("no element %d", at)
	}
	return f.Index(at), nil
}

func store(f reflect.Value, value string) error {
	if _, known := special(f.Interface()); known {
		return storeSpecial(f, value)
	}
	var err error
	switch f.Kind() {
	case reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(value)
		f.SetBool(b)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return storeNumber(f, value)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(value, 10, f.Type().Bits())
		f.SetInt(n)
	case reflect.Float64:
		var x float64
		x, err = strconv.ParseFloat(value, 64)
		f.SetFloat(x)
	case reflect.String:
		if strings.HasPrefix(value, `"`) {
			value, err = strconv.Unquote(value)
		}
		f.SetString(value)
	case reflect.Array, reflect.Slice:
		return storeList(f, value)
	default:
		return fmt.Errorf("cannot hold %q", value)
	}
	if err != nil {
		return fmt.Errorf("%q is no %s", value, f.Kind())
	}
	return nil
}

func storeNumber(f reflect.Value, value string) error {
	if value == "~0" {
		f.SetUint(^uint64(0) >> (64 - f.Type().Bits()))
		return nil
	}
	n, err := strconv.ParseUint(value, 10, f.Type().Bits())
	if err != nil {
		return fmt.Errorf("%q is no number of %d bits", value, f.Type().Bits())
	}
	f.SetUint(n)
	return nil
}

func storeList(f reflect.Value, value string) error {
	if f.Type().Elem().Kind() == reflect.Struct {
		return errors.New("wants elements: name[0].field=value")
	}
	if f.Type().Elem().Kind() == reflect.Uint8 {
		raw, err := hex.DecodeString(value)
		if err != nil || f.Kind() == reflect.Array && len(raw) != f.Len() {
			return fmt.Errorf("%q are no hexadecimal bytes that fit", value)
		}
		if f.Kind() == reflect.Slice {
			f.Set(reflect.MakeSlice(f.Type(), len(raw), len(raw)))
		}
		for i, b := range raw {
			f.Index(i).SetUint(uint64(b))
		}
		return nil
	}
	parts := strings.Split(value, ",")
	switch {
	case len(parts) > elementsMax || f.Kind() == reflect.Array && len(parts) != f.Len():
		return fmt.Errorf("%d numbers do not fit", len(parts))
	case f.Kind() == reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), len(parts), len(parts)))
	}
	for i, p := range parts {
		if err := store(f.Index(i), p); err != nil {
			return err
		}
	}
	return nil
}

// storeSpecial is the way back from special.
func storeSpecial(f reflect.Value, value string) error {
	text, bits, hasBits := strings.Cut(value, "/")
	var n uint64
	var err error
	if hasBits {
		n, err = strconv.ParseUint(bits, 10, 8)
	}
	if _, isMAC := f.Interface().(ethernet_types.MacAddress); isMAC {
		m, err := ethernet_types.ParseMacAddress(value)
		if err != nil {
			return fmt.Errorf("%q is no MAC", value)
		}
		f.Set(reflect.ValueOf(m))
		return nil
	}
	a, aerr := netip.ParseAddr(text)
	if err != nil || aerr != nil || a.Zone() != "" {
		return fmt.Errorf("%q is no address", value)
	}
	if a.Is4In6() {
		return fmt.Errorf("%q: IPv4 within IPv6 is written as IPv6 in hexadecimal", value)
	}
	whole := ip_types.Address{Af: ip_types.ADDRESS_IP4}
	copy(whole.Un.XXX_UnionData[:], a.AsSlice())
	if a.Is6() {
		whole.Af = ip_types.ADDRESS_IP6
	}
	var out any
	switch f.Interface().(type) {
	case ip_types.Address:
		out = whole
	case ip_types.AddressUnion:
		out = whole.Un
	case ip_types.Prefix:
		out = ip_types.Prefix{Address: whole, Len: uint8(n)}
	case ip_types.AddressWithPrefix:
		out = ip_types.AddressWithPrefix{Address: whole, Len: uint8(n)}
	case ip_types.IP4Address:
		out = whole.Un.GetIP4()
	case ip_types.IP6Address:
		out = whole.Un.GetIP6()
	case ip_types.IP4AddressWithPrefix:
		out = ip_types.IP4AddressWithPrefix{Address: whole.Un.GetIP4(), Len: uint8(n)}
	case ip_types.IP6AddressWithPrefix:
		out = ip_types.IP6AddressWithPrefix{Address: whole.Un.GetIP6(), Len: uint8(n)}
	default:
		return fmt.Errorf("cannot hold %q", value)
	}
	f.Set(reflect.ValueOf(out))
	return nil
}
