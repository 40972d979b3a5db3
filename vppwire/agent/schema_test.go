package agent

import (
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Goal: the schema has every setting of the file with its text, takes files that ParseConfig takes, in any case, and
// refuses what it can see to be wrong. Method: the fields of Config, by reflection; tables of files, judged by both.
func TestSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	want, got := map[string]bool{}, map[string]bool{}
	fieldPaths(reflect.TypeFor[Config](), "", want)
	schemaPaths(schema, "", got)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the schema has %v, the file %v", got, want)
	}
	const plan = "TCPstackDisabled: true\nIPAMConfig: {podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 24}\n"
	for _, good := range []string{plan, plan + "mtusize: 1450\nPODINTERCONNECT: tap\n", plan + "MTUSize: 0\nAddPatience: 1m30s\n",
		"TCPstackDisabled: true\nipamconfig: {podSubnetCIDR: 10.1.0.0/16, podNetworkPrefixLen: 24}\n",
		plan + "NodeConfig: [{NodeName: node-1, gateway: 192.168.16.254, otherVPPInterfaces: [{interfaceName: GigabitEthernet0/9/0}]}]\n"} {
		if _, err := ParseConfig("f", []byte(good)); err != nil {
			t.Errorf("%s\n%v", good, err)
		}
		if problem := judged(t, schema, good); problem != "" {
			t.Errorf("%s\nthe schema says %s", good, problem)
		}
	}
	for _, bad := range []string{"MTUSize: 1450\n", plan + "MTUSiz: 1450\n", plan + "MTUSize: big\n", plan + "MTUSize: 100\n", plan + "PodInterconnect: memif\n",
		plan + "AddPatience: 5\n", plan + "STNSocketFile: 1\n", plan + "NodeConfig: [{NodName: node-1}]\n", plan + "IPNeighborStaleThreshold: 300\n"} {
		if _, err := ParseConfig("f", []byte(bad)); err == nil {
			t.Errorf("%s\nis taken", bad)
		}
		if judged(t, schema, bad) == "" {
			t.Errorf("%s\nthe schema takes it", bad)
		}
	}
}

// schemaPaths collects the paths of a schema's keys in lower case; each has a text, and sections have keys.
func schemaPaths(schema map[string]any, path string, into map[string]bool) {
	if items, ok := schema["items"].(map[string]any); ok {
		schema = items
	}
	properties, _ := schema["properties"].(map[string]any)
	if properties == nil && schema["description"] != "" {
		into[path] = true
	}
	for key, value := range properties {
		if value := value.(map[string]any); value["deprecated"] == nil {
			schemaPaths(value, strings.TrimPrefix(path+"."+strings.ToLower(key), "."), into)
		}
	}
}

// judged says what a schema made of Schema's keywords has against a file.
func judged(t *testing.T, schema map[string]any, file string) string {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(file), &value); err != nil {
		t.Fatal(err)
	}
	return against(schema, value)
}

func against(schema map[string]any, value any) string {
	for keyword, want := range schema {
		ok := true
		switch keyword {
		case "type":
			f, number := value.(float64)
			_, text := value.(string)
			_, yes := value.(bool)
			_, list := value.([]any)
			_, keys := value.(map[string]any)
			ok = map[string]bool{"integer": number && f == math.Trunc(f), "string": text, "boolean": yes, "array": list, "object": keys}[want.(string)]
		case "const":
			ok = value == want
		case "enum":
			ok = slices.Contains(want.([]any), value)
		case "minimum":
			f, number := value.(float64)
			ok = !number || f >= want.(float64)
		case "maximum":
			f, number := value.(float64)
			ok = !number || f <= want.(float64)
		case "pattern":
			s, text := value.(string)
			ok = !text || regexp.MustCompile(want.(string)).MatchString(s)
		case "anyOf":
			ok = slices.ContainsFunc(want.([]any), func(s any) bool { return against(s.(map[string]any), value) == "" })
		case "items":
			for _, one := range value.([]any) {
				if problem := against(want.(map[string]any), one); problem != "" {
					return problem
				}
			}
		case "required":
			for _, key := range want.([]any) {
				_, is := value.(map[string]any)[key.(string)]
				ok = ok && is
			}
		case "properties":
			for key, one := range value.(map[string]any) {
				if s, known := want.(map[string]any)[key]; known {
					if problem := against(s.(map[string]any), one); problem != "" {
						return key + ": " + problem
					}
				}
			}
		case "propertyNames":
			for key := range value.(map[string]any) {
				if against(want.(map[string]any), key) != "" {
					return "unknown key " + key
				}
			}
		}
		if !ok {
			return keyword
		}
	}
	return ""
}
