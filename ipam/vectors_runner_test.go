package ipam_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Goal: the runner passes over nothing. What a vector says has a meaning, or there is a complaint that names it.
// Method: a table of small files; each has what a complaint must contain, empty where there must be none.

func TestVectorRunner(t *testing.T) {
	aws := func(setup string, operations ...string) string {
		return fmt.Sprintf(`[{"system":"aws","case":"c","setup":%s,"operations":[%s]}]`, setup, strings.Join(operations, ","))
	}
	const (
		three   = `{"phase":2,"eni-1":["10.0.0.1","10.0.0.2","10.0.0.3"]}`
		assign  = `{"op":"AssignPodIPv4Address","args":{"key":"n/a/eth0"},"expect":{"ip":"10.0.0.1"}}`
		release = `{"op":"UnassignPodIPv4Address","args":{"key":"n/a/eth0"},"expect":{"ok":true}}`
	)
	list := func(expect string) string {
		return `{"op":"FreeableIPs","args":{"eni":"eni-1"},"expect":` + expect + `}`
	}
	again := func(seconds, expect string) string {
		return `{"op":"AdvanceClock","args":{"s":` + seconds + `},"expect":{"ok":true}},` +
			`{"op":"GetIPStats","args":{},"expect":{"cooldown":` + expect + `}}`
	}
	remove := func(age, expect string) string {
		return aws(`{"enis":{"eni-0":{"primary":true},"eni-1":{"ips":2,"ageS":`+age+`}}}`,
			`{"op":"RemoveUnusedENIFromStore","args":{"warm":0,"min":0},"expect":{"value":"`+expect+`"}}`)
	}
	for name, c := range map[string]struct{ file, complaint string }{
		"nothing":               {`[]`, "no vectors"},
		"no list":               {`{}`, "cannot unmarshal"},
		"unknown field":         {`[{"system":"aws","case":"c","sytem":"x"}]`, `"sytem"`},
		"unknown system":        {`[{"system":"azure","case":"c","operations":[]}]`, `"azure"`},
		"no operation":          {aws(`{}`), "no operation"},
		"unknown operation":     {aws(three, `{"op":"Assign","args":{},"expect":{}}`), "not known"},
		"unknown key":           {aws(three, `{"op":"GetENIs","args":{"eni":"eni-1"},"expect":{}}`), `"eni"`},
		"key in another case":   {aws(three, `{"op":"GetENIIPs","args":{"ENI":"eni-1"},"expect":{}}`), `"ENI"`},
		"unknown setup key":     {aws(`{"phaze":2}`, assign), `"phaze"`},
		"unknown key inside":    {aws(`{"enis":{"eni-1":{"ips":1,"color":"red"}}}`, assign), `"color"`},
		"wrong type":            {aws(three, `{"op":"AdvanceClock","args":{"s":"30"},"expect":{}}`), "string"},
		"no addresses":          {aws(`{"eni-1":null}`, assign), "addresses null"},
		"wrong instance":        {aws(`{"instance":"t3.small","maxENIs":9,"usableIPsPerENI":3}`, assign), "t3.small"},
		"unknown checkpointer":  {aws(`{"checkpointer":"Tape"}`, assign), "Tape"},
		"unknown expectation":   {aws(three, `{"op":"GetENIs","args":{},"expect":{"colour":null}}`), `"colour"`},
		"wrong value":           {aws(three, `{"op":"GetENIs","args":{},"expect":{"value":2}}`), "want 2"},
		"unexpected error":      {aws(three, `{"op":"GetENIIPs","args":{"eni":"eni-9"},"expect":{}}`), "unknown ENI"},
		"error that is null":    {aws(three, `{"op":"GetENIIPs","args":{"eni":"eni-9"},"expect":{"error":null}}`), "unknown ENI"},
		"expected error":        {aws(three, `{"op":"GetENIIPs","args":{"eni":"eni-9"},"expect":{"error":"unknown ENI"}}`), ""},
		"not ok":                {aws(three, `{"op":"GetENIIPs","args":{"eni":"eni-9"},"expect":{"ok":false}}`), ""},
		"missing error":         {aws(three, `{"op":"GetENIIPs","args":{"eni":"eni-1"},"expect":{"error":"unknown ENI"}}`), "does not contain"},
		"defect":                {aws(three, `{"op":"GetENIs","args":{},"expect":{"value":1,"defect":"one too many"}}`), "one too many"},
		"remark":                {aws(three, `{"op":"GetENIs","args":{},"expect":{"value":1,"note":"as it should"}}`), ""},
		"same":                  {aws(three, list(`{"saveAs":"L"}`), list(`{"sameAs":"$L"}`)), ""},
		"not the same":          {aws(three, list(`{"saveAs":"L"}`), assign, list(`{"sameAs":"$L"}`)), "have [10.0.0.2 10.0.0.3]"},
		"same as a part":        {aws(three, list(`{"saveAs":"L"}`), assign, list(`{"sameAs":"L[1:]"}`)), ""},
		"same as nothing":       {aws(three, list(`{"sameAs":"$L"}`)), "nothing is saved as $L"},
		"bounds":                {aws(three, list(`{"saveAs":"L"}`), list(`{"sameAs":"L[x:]"}`)), "nothing is saved as L[x:]"},
		"member of nothing":     {aws(three, `{"op":"GetENIs","args":{},"expect":{"memberOf":"$L"}}`), "nothing is saved as $L"},
		"excluded":              {aws(three, list(`{"exclude":["10.0.0.2"]}`)), "10.0.0.2 is excluded"},
		"excluded range":        {aws(three, list(`{"exclude":"10.0.0.2/31"}`)), "is excluded by 10.0.0.2/31"},
		"excluded list":         {aws(three, list(`{"saveAs":"L"}`), list(`{"exclude":"$L"}`)), "is excluded by $L"},
		"not excluded":          {aws(three, list(`{"exclude":["10.0.0.4","10.1.0.0/16"]}`)), ""},
		"excluding nothing":     {aws(three, list(`{"exclude":null}`)), "wants values"},
		"half a second too few": {aws(three, assign, release, again("29.5", "1")), ""},
		"half a second more":    {aws(three, assign, release, again("29.5", "1"), again("0.5", "0")), ""},
		"an ENI of 59.5 s":      {remove("59.5", ""), ""},
		"an ENI of 60.5 s":      {remove("60.5", "eni-1"), ""},
		"no file": {aws(`{"phase":2,"eni-1":["10.0.0.1"],"file":null}`, `{"op":"ReadBackingStore","args":{},"expect":{"ok":true}}`,
			`{"op":"AllocatedIPs","args":{},"expect":{"count":0}}`), ""},
		"file of something else": {aws(`{"phase":2,"eni-1":["10.0.0.1"],"file":[1]}`, `{"op":"ReadBackingStore","args":{},"expect":{"ok":true}}`),
			"reading backing store"},
		"own age": {aws(three, `{"op":"ForceAge","args":{"eni":"eni-1","createTime":"noon"},"expect":{"ok":true}}`), "noon"},
	} {
		t.Run(name, func(t *testing.T) {
			var complaints []string
			vectors, err := parseVectors([]byte(c.file))
			if err != nil {
				complaints = append(complaints, err.Error())
			}
			for _, v := range vectors {
				complaints = append(complaints, run(v, map[string]bool{})...)
			}
			all := strings.Join(complaints, "\n")
			if (c.complaint == "") != (all == "") || !strings.Contains(all, c.complaint) {
				t.Errorf("complaints %q, want one with %q", all, c.complaint)
			}
		})
	}
}

// A correction holds for the expectation that it replaces: where a file expects something else under the same name,
// that counts.
func TestCorrectionsHoldForTheirExpectation(t *testing.T) {
	c := awsCorrections["zero-key-hazard/0"]
	v := vector{System: "aws", Case: "zero-key-hazard", Setup: json.RawMessage(`{"eni-1":["10.0.0.1"]}`)}
	for expect, wrong := range map[string]bool{c.was: false, `{"ip":"10.0.0.2"}`: true, `{"error":"invalid IPAM key"}`: false} {
		o := operation{Op: "AssignPodIPv4Address", Args: json.RawMessage(`{"key":"//"}`)}
		if err := json.Unmarshal([]byte(expect), &o.Expect); err != nil {
			t.Fatal(err)
		}
		v.Operations = []operation{o}
		if complaints := run(v, map[string]bool{}); (len(complaints) > 0) != wrong {
			t.Errorf("%s: %q", expect, complaints)
		}
	}
}

// Every operation that has keys is one that some vector uses, and no vector repeats another's name.
func TestVectorsAreComplete(t *testing.T) {
	vectors, err := readVectors(vectorsOwn)
	if err != nil {
		t.Fatal(err)
	}
	used, seen := make(map[string]bool), make(map[string]bool)
	for _, v := range vectors {
		if name := v.System + "/" + v.Case; seen[name] {
			t.Errorf("%s is there twice", name)
		} else {
			seen[name] = true
		}
		for _, o := range v.Operations {
			used[v.System+" "+o.Op] = true
		}
	}
	for system, operations := range operationKeys {
		for op := range operations {
			if !used[system+" "+op] {
				t.Errorf("no vector of %s uses %s", system, op)
			}
		}
	}
	if len(vectors) < 261 {
		t.Errorf("%d vectors", len(vectors))
	}
}
