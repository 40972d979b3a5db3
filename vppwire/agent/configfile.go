package agent

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// ParseConfig reads a configuration file in Contiv's format, applies defaults and validates. Keys are those of Config,
// in any case; a key that does not exist, is given twice or has a value of the wrong type is an error
// "file:line:column:" with the nearest key that exists. The name is only used in errors.
func ParseConfig(file string, yaml []byte) (Config, error) {
	cfg := Config{TCPChecksumOffloadDisabled: true}
	d := decoder(file)
	if err := d.Decode(yaml, "configuration", &cfg); err != nil {
		return Config{}, err
	}
	given := cfg
	cfg.ApplyDefaults()
	found := cfg.findings()
	if cfg.PodInterconnect == PodInterconnectNone {
		found = append(found, errors.New("PodInterconnect none: pods need an interface; give veth, tap or macvlan"))
	}
	cfg.checkFile(&given, func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) })
	if len(found) == 0 {
		if err := cfg.ApplyIPAMConfig(); err != nil {
			found = append(found, err)
		}
	}
	for i, err := range found {
		found[i] = placed(file, d.At, err)
	}
	if len(found) > 0 {
		return Config{}, errors.Join(found...)
	}
	return cfg, nil
}

// ParseIPAMConfig reads the address plan of a configuration file, whether an agent would take the rest of it or not. At
// has the places of its keys, below IPAMConfig, by their names in scenarios: podSubnetCIDR. Errors are ParseConfig's,
// but for those of what the values mean.
func ParseIPAMConfig(file string, yaml []byte) (_ contiv.IPAMConfig, at strictyaml.Positions, _ error) {
	var cfg Config
	d := decoder(file)
	if err := d.Decode(yaml, "configuration", &cfg); err != nil {
		return contiv.IPAMConfig{}, nil, err
	}
	at = strictyaml.Positions{}
	for path, p := range d.At { //vppdrill:unordered each sets its own key
		section, key, _ := strings.Cut(path, ".")
		if !strings.EqualFold(section, "IPAMConfig") || key == "" {
			continue
		}
		if now, old := otherNames[strings.ToLower(key)]; old {
			key = now
		}
		if f, ok := reflect.TypeFor[contiv.IPAMConfig]().FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, key) }); ok {
			at[strings.ToLower(f.Name[:1])+f.Name[1:]] = p
		}
	}
	return cfg.IPAMConfig, at, nil
}

// decoder reads Contiv's format.
func decoder(file string) *strictyaml.Decoder {
	return &strictyaml.Decoder{File: file, At: strictyaml.Positions{}, All: true, MayBeEmpty: true, NullIsDefault: true, GoNames: true, AnyCase: true, Known: otherNames, Scalar: duration}
}

// placed says where in the file a finding is about: it begins with a field's name, and names the one within it that it
// means.
func placed(file string, at strictyaml.Positions, finding error) error {
	low := strictyaml.Positions{}
	for path, p := range at { //vppdrill:unordered each sets its own key
		low[strings.ToLower(path)] = p
	}
	path, rest, _ := strings.Cut(strings.ToLower(finding.Error()), " ")
	path = strings.TrimSuffix(path, ":")
	for word := range strings.FieldsSeq(rest) {
		if _, ok := low[path+"."+strings.TrimSuffix(word, ":")]; ok {
			path += "." + strings.TrimSuffix(word, ":")
		}
	}
	place := low.Find(path)
	return &strictyaml.Error{File: file, Line: place.Line, Column: place.Column, Message: finding.Error()}
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
