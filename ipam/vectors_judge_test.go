package ipam_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// judge says what is wrong with a result under one key of an expectation, "" for nothing.
func judge(key string, want any, have map[string]any, err error, saved map[string][]string) string {
	list := texts(have["list"])
	single := fmt.Sprint(have["value"])
	if list == nil && have["value"] != nil {
		list = []string{single}
	}
	switch key {
	case "ok":
		return differs(err == nil, want)
	case "note": // a remark
	case "defect":
		return fmt.Sprintf("upstream's defect (%v) needs a correction", want)
	case "error":
		if want == nil {
			return differs(err == nil, true)
		}
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(want)) {
			return fmt.Sprintf("error %v does not contain %q", err, want)
		}
	case "within":
		p := netip.MustParsePrefix(fmt.Sprint(want))
		for _, a := range list {
			if addr, err := netip.ParseAddr(a); err != nil || !p.Contains(addr) {
				return fmt.Sprintf("%s is not within %s", a, p)
			}
		}
		if len(list) == 0 {
			return "there is no address"
		}
	case "distinct":
		return differs(float64(len(slices.Compact(slices.Sorted(slices.Values(list))))), want)
	case "first", "last":
		if len(list) == 0 {
			return "the list is empty"
		}
		if key == "first" {
			return differs(list[0], want)
		}
		return differs(list[len(list)-1], want)
	case "list":
		return differs(list, texts(want))
	case "sameAs":
		other, ok := slice(fmt.Sprint(want), saved)
		if !ok {
			return fmt.Sprintf("nothing is saved as %v", want)
		}
		return differs(list, other)
	case "exclude":
		return excludes(list, want, saved)
	case "oneOf", "oneOfIP", "upstreamAccepts":
		if !slices.Contains(texts(want), single) {
			return fmt.Sprintf("%s is not one of %v", single, want)
		}
	case "not":
		if fmt.Sprint(have["ip"]) == fmt.Sprint(want) || single == fmt.Sprint(want) {
			return fmt.Sprintf("have exactly what must not be: %v", want)
		}
	case "saveAs":
		if list != nil { // else whoever refers to it is told
			saved[fmt.Sprint(want)] = list
		}
	case "memberOf":
		members, ok := slice(fmt.Sprint(want), saved)
		if !ok {
			return fmt.Sprintf("nothing is saved as %v", want)
		}
		if !slices.Contains(members, single) {
			return fmt.Sprintf("%s is not in %s = %v", single, want, members)
		}
	default:
		value, ok := have[key]
		if !ok {
			return fmt.Sprintf("expectation %q is not known here", key)
		}
		return differs(value, want)
	}
	return ""
}

// excludes says which results are among the excluded ones: values, CIDRs, or $names of saved lists; "" for none.
func excludes(list []string, want any, saved map[string][]string) string {
	excluded := texts(want)
	if text, ok := want.(string); ok {
		excluded = []string{text}
	}
	if len(excluded) == 0 {
		return fmt.Sprintf("exclude wants values, not %v", want)
	}
	for _, text := range excluded {
		members := []string{text}
		if strings.HasPrefix(text, "$") {
			var ok bool
			if members, ok = slice(text, saved); !ok {
				return fmt.Sprintf("nothing is saved as %s", text)
			}
		}
		p, err := netip.ParsePrefix(text)
		for _, have := range list {
			a, wrong := netip.ParseAddr(have)
			if slices.Contains(members, have) || err == nil && wrong == nil && p.Contains(a) {
				return fmt.Sprintf("%s is excluded by %s", have, text)
			}
		}
	}
	return ""
}

// slice reads "name", "name[a:b]" or "name[a:]" of the saved lists; a leading $ does not matter. False: there is no
// such list, or the bounds are no numbers.
func slice(reference string, saved map[string][]string) (list []string, ok bool) {
	name, bounds, cut := strings.Cut(strings.TrimPrefix(reference, "$"), "[")
	list, ok = saved[name]
	if !ok || !cut {
		return list, ok
	}
	from, to, _ := strings.Cut(strings.TrimSuffix(bounds, "]"), ":")
	low, high := 0, len(list)
	for i, text := range [...]string{from, to} {
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, false
		}
		*[...]*int{&low, &high}[i] = n
	}
	low, high = min(low, len(list)), min(high, len(list))
	if low > high {
		return nil, false
	}
	return list[low:high], true
}

func texts(v any) []string {
	switch v := v.(type) {
	case []string:
		return v
	case []any:
		list := make([]string, len(v))
		for i, x := range v {
			list[i] = fmt.Sprint(x)
		}
		return list
	}
	return nil
}

// differs compares a result with what JSON says; numbers are float64 there.
func differs(have, want any) string {
	var plain any
	if text, err := json.Marshal(have); err != nil || json.Unmarshal(text, &plain) != nil {
		return fmt.Sprintf("result %v does not go into JSON", have)
	}
	var wish any
	if text, err := json.Marshal(want); err != nil || json.Unmarshal(text, &wish) != nil {
		return fmt.Sprintf("expectation %v does not go into JSON", want)
	}
	if !reflect.DeepEqual(plain, wish) {
		return fmt.Sprintf("have %v, want %v", plain, wish)
	}
	return ""
}

// vectorSeconds is a time as vectors tell it, to the nanosecond.
func vectorSeconds(s float64) time.Duration {
	return time.Duration(math.Round(s * float64(time.Second)))
}
