package kube

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/vppdrill/vppdrill/ipam"
)

// outcome is what a request's error tells about it. Only an answer of the server that is its own fault no more, 4xx,
// tells that nothing was done; a timeout, a broken connection, an answer that cannot be read and 5xx leave it open.
func outcome(err error) ipam.Outcome {
	if err == nil {
		return ipam.Done
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return ipam.Unknown
	}
	switch code := status.Status().Code; {
	case code == http.StatusConflict:
		return ipam.Conflict
	case code == http.StatusNotFound:
		return ipam.NotFound
	case code == http.StatusUnprocessableEntity && names(status, "metadata.uid"):
		return ipam.Conflict // how a server refuses a PATCH that is meant for another object of the name
	case code == http.StatusRequestTimeout:
		return ipam.Unknown
	case code >= 400 && code < 500:
		return ipam.Refused
	}
	return ipam.Unknown
}

// names reports whether a refusal is about a field.
func names(status apierrors.APIStatus, field string) bool {
	if d := status.Status().Details; d != nil {
		for _, cause := range d.Causes {
			if cause.Field == field {
				return true
			}
		}
	}
	return false
}

// cloudOutcome is the same for a cloud.
func cloudOutcome(err error) ipam.Outcome {
	switch {
	case err == nil:
		return ipam.Done
	case errors.Is(err, ErrRefused):
		return ipam.Refused
	}
	return ipam.Unknown
}

// namespaceOf is the namespace that a refusal says is not there, empty where it says no such thing.
func namespaceOf(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusNotFound || status.Status().Details == nil || status.Status().Details.Kind != "namespaces" {
		return ""
	}
	return status.Status().Details.Name
}
