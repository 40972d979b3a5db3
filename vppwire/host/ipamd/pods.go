package ipamd

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// Refusal is the body of an answer that is not 200.
type Refusal struct {
	Error string `json:"error"`
}

// requestMax is how long the body of a request may be.
const requestMax = 1 << 20

// Pods serves those who wire pods. Each request is a POST with an IPAMKey as its body:
//
//	/v1/add    gives an address, the same again to the same key
//	/v1/check  says which address a key has; 404 when it has none
//	/v1/del    takes the address back; 200 also when there was none
//	/v1/gc     takes everything back but of the keys in a list
//
// 503 is to be tried again: there is no address now, or the daemon is not ready.
func (d *Daemon) Pods() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/add", keyed(func(w http.ResponseWriter, key datastore.IPAMKey) {
		a, err := d.Assign(key)
		settle(w, a, err)
	}))
	mux.HandleFunc("POST /v1/del", keyed(func(w http.ResponseWriter, key datastore.IPAMKey) {
		a, err := d.Release(key)
		if errors.Is(err, datastore.ErrUnknownPod) {
			err = nil
		}
		settle(w, a, err)
	}))
	mux.HandleFunc("POST /v1/check", keyed(func(w http.ResponseWriter, key datastore.IPAMKey) {
		if a, ok := d.Lookup(key); ok {
			answer(w, http.StatusOK, a)
			return
		}
		answer(w, http.StatusNotFound, Refusal{datastore.ErrUnknownPod.Error()})
	}))
	mux.HandleFunc("POST /v1/gc", keyed(func(w http.ResponseWriter, valid []datastore.IPAMKey) {
		n, err := d.Sweep(valid)
		settle(w, struct {
			Released int `json:"released"`
		}{n}, err)
	}))
	return mux
}

// keyed reads a request's body.
func keyed[T any](serve func(w http.ResponseWriter, body T)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		read := json.NewDecoder(http.MaxBytesReader(w, r.Body, requestMax))
		read.DisallowUnknownFields()
		if err := read.Decode(&body); err != nil {
			answer(w, http.StatusBadRequest, Refusal{oneline.Text(err.Error())})
			return
		}
		serve(w, body)
	}
}

// settle answers with what was done, or why it was not.
func settle(w http.ResponseWriter, done any, err error) {
	full := (*datastore.ExhaustedError)(nil)
	switch {
	case err == nil:
		answer(w, http.StatusOK, done)
	case errors.Is(err, datastore.ErrInvalidKey):
		answer(w, http.StatusBadRequest, Refusal{err.Error()})
	case errors.As(err, &full):
		answer(w, http.StatusServiceUnavailable, Refusal{err.Error() + ": " + full.Detail()})
	default:
		answer(w, http.StatusServiceUnavailable, Refusal{oneline.Text(err.Error())})
	}
}
