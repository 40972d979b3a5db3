package kube

import "net/http"

// requests tells what a connection asks of its API server. A watch is one request, however long it lasts.
type requests struct {
	next http.RoundTripper
	tell func(code int, method string)
}

// RoundTrip implements http.RoundTripper.
func (r *requests) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := r.next.RoundTrip(q)
	if r.tell != nil {
		code := 0
		if answer != nil {
			code = answer.StatusCode
		}
		r.tell(code, q.Method)
	}
	return answer, err
}

// OnRequest has tell called with each request's method and the status code of its answer, 0 for none, from any
// goroutine. It is said once, before the first request.
func (c *Connection) OnRequest(tell func(code int, method string)) { c.requests.tell = tell }
