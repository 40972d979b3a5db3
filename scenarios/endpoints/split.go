package endpoints

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/service"
)

// MostInSlice is how many endpoints one EndpointSlice has. The controller's --max-endpoints-per-slice is 100 unless somebody sets it and may be 1:
// few, so that services of a few pods have several slices, too.
const MostInSlice = 3

// Split divides the endpoints of a service among slices of at most MostInSlice, as the controller does: one that a slice has stays there (two
// pods may show one address for a while), a new one goes where there is room, and a slice without any goes, but for the last one. Before are the slices that there are, by name; so is what is returned.
func Split(whole service.Slice, before []service.Slice) []service.Slice {
	left := slices.Clone(whole.Endpoints)
	var out []service.Slice
	for _, s := range before {
		was := s.Endpoints
		s.Ports, s.Endpoints = whole.Ports, nil
		left = slices.DeleteFunc(left, func(e service.Endpoint) bool {
			stays := len(s.Endpoints) < MostInSlice && slices.ContainsFunc(was, func(x service.Endpoint) bool { return x.Addr == e.Addr && x.Node == e.Node })
			if stays {
				s.Endpoints = append(s.Endpoints, e)
			}
			return stays
		})
		out = append(out, s)
	}
	for i := range out {
		n := min(MostInSlice-len(out[i].Endpoints), len(left))
		out[i].Endpoints, left = append(out[i].Endpoints, left[:n]...), left[n:]
	}
	for n := 1; len(left) > 0 || len(out) == 0; n++ {
		s := whole
		s.Name.Name = fmt.Sprintf("%s-%d", whole.Service, n)
		if slices.ContainsFunc(out, func(x service.Slice) bool { return x.Name == s.Name }) {
			continue
		}
		k := min(MostInSlice, len(left))
		s.Endpoints, left = left[:k:k], left[k:]
		out = append(out, s)
	}
	some := slices.DeleteFunc(slices.Clone(out), func(s service.Slice) bool { return len(s.Endpoints) == 0 })
	if len(some) == 0 {
		return out[:1]
	}
	slices.SortFunc(some, func(a, b service.Slice) int { return strings.Compare(a.Name.Name, b.Name.Name) })
	return some
}

// Join is a service's endpoints in all its slices as one slice.
func Join(parts []service.Slice) (whole service.Slice) {
	for i, s := range parts {
		if i == 0 {
			whole = s
			whole.Endpoints = nil
		}
		whole.Endpoints = append(whole.Endpoints, s.Endpoints...)
	}
	return whole
}
