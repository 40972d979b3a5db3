package cmd

import (
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// newDecoder reads files whose prefixes and addresses are of both families.
func newDecoder(file string) *strictyaml.Decoder {
	return &strictyaml.Decoder{File: file, At: strictyaml.Positions{}, Scalar: setScalar, More: sections}
}

// sections are the sections of systems, where v is a section of addresses.
func sections(v reflect.Value) []strictyaml.Member {
	switch v := v.Addr().Interface().(type) {
	case *section:
		return v.Sections()
	case *scenarios.IPAM:
		return v.Sections()
	}
	return nil
}

var (
	typeSystem   = reflect.TypeFor[scenarios.System]()
	typePrefix   = reflect.TypeFor[netip.Prefix]()
	typePair     = reflect.TypeFor[scenarios.CIDRPair]()
	typeAddr     = reflect.TypeFor[netip.Addr]()
	typeDuration = reflect.TypeFor[time.Duration]()
	typeUnused   = reflect.TypeFor[unused]()
)

// setScalar reads the values that a plan has beyond numbers, truth values and words.
func setScalar(v reflect.Value, _ reflect.StructTag, text string) (done bool, err *strictyaml.ValueError) {
	switch v.Type() {
	case typeSystem:
		v.SetString(text)
		return true, strictyaml.CheckWords(scenarios.SystemNames(), text)
	case typePrefix:
		return true, setPrefix(v, text)
	case typePair:
		var p scenarios.CIDRPair
		first, second, both := strings.Cut(text, ",")
		if err := setPrefix(reflect.ValueOf(&p.Prefix).Elem(), strings.TrimSpace(first)); err != nil {
			return true, err
		}
		if both {
			if err := setPrefix(reflect.ValueOf(&p.Second).Elem(), strings.TrimSpace(second)); err != nil {
				return true, err
			}
		}
		v.Set(reflect.ValueOf(p))
		return true, nil
	case typeAddr:
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return true, strictyaml.Wrong(text, "is not an address")
		}
		v.Set(reflect.ValueOf(a.Unmap()))
		return true, nil
	case typeUnused:
		var u unused
		if err := u.Set(text); err != nil {
			return true, strictyaml.Wrong(text, "%s", err)
		}
		v.Set(reflect.ValueOf(u))
		return true, nil
	case typeDuration:
		t, err := scenarios.ParseDuration(text)
		if err != nil || t < 0 {
			return true, strictyaml.Wrong(text, "is not a duration such as 10s, 5m, 1h30m or 3d")
		}
		v.SetInt(int64(t))
		return true, nil
	}
	return false, nil
}

func setPrefix(v reflect.Value, text string) *strictyaml.ValueError {
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
			return &strictyaml.ValueError{Message: strictyaml.Wrong(text, "is an address, not a prefix").Message, Nearest: netip.PrefixFrom(a, naturalBits(a)).String()}
		}
		return strictyaml.Wrong(text, "is not a prefix")
	case p.Addr().Is4In6():
		return strictyaml.Wrong(text, "is IPv4 in IPv6; write it as IPv4")
	case p != p.Masked():
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
