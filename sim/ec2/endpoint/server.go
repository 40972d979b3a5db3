package endpoint

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/sim/ec2"
)

// Config describes a Server.
type Config struct {
	// Region is served; it has no other user.
	Region *ec2.Region
	// Name is the region's, as eu-central-1.
	Name string
	// Types are the limits of the instance types that requests may ask for.
	Types func(instanceType string) (ec2.Limits, bool)
	// AccessKey is the one that requests must be signed with; the metadata service hands it out.
	AccessKey, SecretKey string
	// Now is the present time; nil: the machine's. Wait lets so much of it pass, or less when ctx ends; nil: as long as it takes.
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration)
}

// Fixed facts of the one account.
const (
	ownerID = "123456789012"
	vpcID   = "vpc-00000000000000001"
	role    = "vppdrill-node"
)

// Server serves one region. Its methods may be called from any goroutine.
type Server struct {
	cfg Config

	mu       sync.Mutex // over the region and all below
	faults   []Fault
	counts   map[string]int
	sessions map[string]time.Time // of metadata tokens, until when
	number   int
}

// New returns a Server.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Wait == nil {
		cfg.Wait = func(ctx context.Context, d time.Duration) {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
		}
	}
	return &Server{cfg: cfg, counts: make(map[string]int), sessions: make(map[string]time.Time)}
}

// Requests is how many requests of an action were performed, refused ones among them.
func (s *Server) Requests(action string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[action]
}

// Asked is Requests of each action that was asked for.
func (s *Server) Asked() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// Ask runs look on the region, between two requests.
func (s *Server) Ask(look func(now time.Time, r *ec2.Region)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(s.cfg.Now(), s.cfg.Region)
}

const namespace = "http://ec2.amazonaws.com/doc/2016-11-15/"

// API is the endpoint of EC2's requests.
func (s *Server) API() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			s.refuse(w, &ec2.APIError{Code: "MalformedQueryString", Message: err.Error()})
			return
		}
		action := r.Form.Get("Action")
		fault, end := s.meet(r, action)
		if end {
			return
		}
		if fault.Code != "" {
			s.refuse(w, &ec2.APIError{Code: fault.Code, Message: action})
			return
		}
		answer, err := s.perform(r, action)
		if fault.Lost {
			hangUp(w)
			return
		}
		if err != nil {
			s.refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
		fmt.Fprintf(w, "%s<%sResponse xmlns=%q><requestId>%s</requestId>", xml.Header, action, namespace, s.requestID())
		_ = xml.NewEncoder(w).Encode(answer) // who went away does not miss it
		fmt.Fprintf(w, "</%sResponse>", action)
	})
}

// perform lets the model do what a request asks for.
func (s *Server) perform(r *http.Request, action string) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[action]++
	if err := s.signed(r); err != nil {
		return nil, err
	}
	do, ok := actions[action]
	if !ok {
		return nil, &ec2.APIError{Code: "InvalidAction", Message: fmt.Sprintf("The action %s is not valid for this web service.", action)}
	}
	q := &query{form: r.Form, now: s.cfg.Now()}
	answer, err := do(s, q)
	if q.err != nil {
		return nil, q.err
	}
	return answer, err
}

// signed checks whose request it is; the signature itself is not what is tried here.
func (s *Server) signed(r *http.Request) error {
	_, credential, found := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(credential, "/")
	switch {
	case !found:
		return &ec2.APIError{Code: "MissingAuthenticationToken", Message: "Request is missing Authentication Token"}
	case key != s.cfg.AccessKey:
		return &ec2.APIError{Code: "AuthFailure", Message: "AWS was not able to validate the provided access credentials"}
	}
	return nil
}

// requestID is the next one, in the form of AWS'.
func (s *Server) requestID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", s.number)
}

// statusOf are the status codes of errors that are not 400.
var statusOf = map[string]int{
	ec2.CodeThrottled: http.StatusServiceUnavailable, "Unavailable": http.StatusServiceUnavailable, ec2.CodeInternal: http.StatusInternalServerError,
	"AuthFailure": http.StatusUnauthorized, "MissingAuthenticationToken": http.StatusForbidden, "UnauthorizedOperation": http.StatusForbidden,
}

// refuse answers with an error.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	told := &ec2.APIError{Code: ec2.CodeInternal, Message: err.Error()}
	errors.As(err, &told)
	status := statusOf[told.Code]
	if status == 0 {
		status = http.StatusBadRequest
	}
	type one struct{ Code, Message string }
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, xml.Header)
	_ = xml.NewEncoder(w).Encode(struct { // who went away does not miss it
		XMLName   xml.Name `xml:"Response"`
		Errors    []one    `xml:"Errors>Error"`
		RequestID string   `xml:"RequestID"`
	}{Errors: []one{{told.Code, told.Message}}, RequestID: s.requestID()})
}
