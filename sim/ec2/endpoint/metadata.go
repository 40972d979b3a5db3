package endpoint

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/sim/ec2"
)

// sessionMax is how long a metadata session may last, as AWS has it.
const sessionMax = 6 * time.Hour

// Headers of the metadata service, version 2.
const (
	tokenHeader = "X-Aws-Ec2-Metadata-Token"
	ttlHeader   = "X-Aws-Ec2-Metadata-Token-Ttl-Seconds"
)

// Metadata is the metadata service of one instance. It answers nobody without a session token.
func (s *Server) Metadata(instance string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /latest/api/token", s.session)
	mux.HandleFunc("GET /latest/", func(w http.ResponseWriter, r *http.Request) {
		if fault, end := s.meet(r, Metadata); end {
			return
		} else if fault.Code != "" {
			http.Error(w, fault.Code, http.StatusServiceUnavailable)
			return
		} else if fault.Lost {
			hangUp(w)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.counts[Metadata]++
		now := s.cfg.Now()
		if until, ok := s.sessions[r.Header.Get(tokenHeader)]; !ok || !now.Before(until) {
			http.Error(w, "401 - Unauthorized", http.StatusUnauthorized)
			return
		}
		h, err := s.cfg.Region.Host(instance)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		text, ok := s.lookUp(now, h, strings.Trim(strings.TrimPrefix(r.URL.Path, "/latest/"), "/"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte(text)) // who went away does not miss it
	})
	return mux
}

// session begins a session.
func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	if _, end := s.meet(r, "token"); end {
		return
	}
	seconds, err := strconv.Atoi(r.Header.Get(ttlHeader))
	if ttl := time.Duration(seconds) * time.Second; err != nil || ttl < time.Second || ttl > sessionMax {
		http.Error(w, "400 - Bad Request", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	token := fmt.Sprintf("session-%d", s.number)
	s.sessions[token] = s.cfg.Now().Add(time.Duration(seconds) * time.Second)
	w.Header().Set(ttlHeader, strconv.Itoa(seconds))
	_, _ = w.Write([]byte(token)) // who went away does not miss it
}

// lookUp is what the metadata service has at a path.
func (s *Server) lookUp(now time.Time, h *ec2.Host, path string) (string, bool) {
	if path == "dynamic/instance-identity/document" {
		return s.document(now, h), true
	}
	path, ok := strings.CutPrefix(path, "meta-data/")
	if !ok {
		return "", false
	}
	enis := h.Metadata(now)
	if rest, ok := strings.CutPrefix(path, "network/interfaces/macs"); ok {
		return s.interfaces(enis, strings.TrimPrefix(rest, "/"))
	}
	if path == "iam/security-credentials" {
		return role, true
	}
	if path == "iam/security-credentials/"+role {
		return s.credentials(now), true
	}
	value, ok := map[string]string{
		"instance-id": h.ID, "instance-type": h.Type, "mac": mac(enis[0].ID), "local-ipv4": enis[0].Address.String(),
		"placement/availability-zone": h.Zone, "placement/region": s.cfg.Name, "services/domain": "amazonaws.com", "services/partition": "aws",
	}[path]
	return value, ok
}

// interfaces is what is said of interfaces, below their MACs.
func (s *Server) interfaces(enis []ec2.ENI, path string) (string, bool) {
	if path == "" {
		var macs []string
		for _, e := range enis {
			macs = append(macs, mac(e.ID)+"/")
		}
		slices.Sort(macs)
		return strings.Join(macs, "\n"), true
	}
	which, key, _ := strings.Cut(path, "/")
	n := slices.IndexFunc(enis, func(e ec2.ENI) bool { return mac(e.ID) == which })
	if n < 0 {
		return "", false
	}
	e := enis[n]
	addresses, prefixes := []string{e.Address.String()}, []string(nil)
	for _, u := range e.Units {
		if u.IsSingleIP() {
			addresses = append(addresses, u.Addr().String())
		} else {
			prefixes = append(prefixes, u.String())
		}
	}
	values := map[string][]string{
		"device-number": {strconv.Itoa(e.Device)}, "interface-id": {e.ID}, "mac": {mac(e.ID)}, "owner-id": {ownerID}, "vpc-id": {vpcID},
		"local-ipv4s": addresses, "ipv4-prefix": prefixes, "ipv6-prefix": textsOf(e.Prefixes6),
	}
	if i, ok := s.cfg.Region.Of(e); ok {
		values["subnet-id"], values["security-group-ids"] = []string{i.Subnet}, i.Groups
		for _, p := range s.cfg.Region.Places() {
			if p.ID == i.Subnet {
				values["subnet-ipv4-cidr-block"] = []string{p.CIDR().String()}
				if six := p.CIDR6(); six.IsValid() {
					values["subnet-ipv6-cidr-blocks"] = []string{six.String()}
				}
			}
			values["vpc-ipv4-cidr-blocks"] = append(values["vpc-ipv4-cidr-blocks"], p.CIDR().String())
		}
	}
	if key == "" {
		var keys []string
		for k, v := range values { // in any order: it is sorted below
			if len(v) > 0 {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		return strings.Join(keys, "\n"), true
	}
	if len(values[key]) == 0 {
		return "", false
	}
	return strings.Join(values[key], "\n"), true
}

func (s *Server) document(now time.Time, h *ec2.Host) string {
	text, _ := json.Marshal(map[string]any{ // strings always marshal
		"accountId": ownerID, "availabilityZone": h.Zone, "instanceId": h.ID, "instanceType": h.Type, "region": s.cfg.Name,
		"privateIp": h.Metadata(now)[0].Address.String(), "version": "2017-09-30",
	})
	return string(text)
}

func (s *Server) credentials(now time.Time) string {
	text, _ := json.Marshal(map[string]string{ // strings always marshal
		"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": s.cfg.AccessKey, "SecretAccessKey": s.cfg.SecretKey, "Token": "session-of-" + role,
		"LastUpdated": now.UTC().Format(time.RFC3339), "Expiration": now.Add(sessionMax).UTC().Format(time.RFC3339),
	})
	return string(text)
}
