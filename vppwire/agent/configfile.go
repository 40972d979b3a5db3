package agent

import (
	"fmt"
	"reflect"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// ParseConfig reads a configuration file in Contiv's format, applies defaults and validates. Keys are those of Config,
// in any case; a key that does not exist, is given twice or has a value of the wrong type is an error "file:line:column:"
// with the nearest key that exists. The name is only used in errors.
func ParseConfig(file string, yaml []byte) (Config, error) {
	cfg := Config{TCPChecksumOffloadDisabled: true}
	d := strictyaml.Decoder{File: file, All: true, MayBeEmpty: true, NullIsDefault: true, GoNames: true, AnyCase: true, Known: otherNames, Scalar: duration}
	if err := d.Decode(yaml, "configuration", &cfg); err != nil {
		return Config{}, err
	}
	cfg.ApplyDefaults()
	if err := cfg.Validate(); err != nil {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	if err := cfg.ApplyIPAMConfig(); err != nil {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	return cfg, nil
}

// otherNames are keys of older files, by the keys that they mean; all in lower case.
var otherNames = map[string]string{
	"podnetworkprefixlen":     "podsubnetonenodeprefixlen",
	"vpphostnetworkprefixlen": "vpphostsubnetonenodeprefixlen",
}

// duration reads what Go writes: 10m, 1m30s.
func duration(v reflect.Value, _ reflect.StructTag, text string) (done bool, err *strictyaml.ValueError) {
	if v.Type() != reflect.TypeFor[time.Duration]() {
		return false, nil
	}
	t, parseErr := time.ParseDuration(text)
	if parseErr != nil {
		return true, strictyaml.Wrong(text, "is not a duration such as 10m or 1m30s")
	}
	v.SetInt(int64(t))
	return true, nil
}
