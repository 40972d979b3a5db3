package aws

import (
	"bytes"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// ownBody sends copies of requests' bodies. The SDK closes a body when the answer comes; where that comes so fast that net/http still
// looks whether the body has ended, as from a double on the same machine, it closes the connection under the answer, and a request that
// was done counts as lost.
type ownBody struct{ aws.HTTPClient }

// Do implements aws.HTTPClient.
func (c ownBody) Do(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return c.HTTPClient.Do(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	own := r.Clone(r.Context())
	own.Body = io.NopCloser(bytes.NewReader(body))
	return c.HTTPClient.Do(own)
}
