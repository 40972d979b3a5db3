package aws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// Times of requests. A Manager gives a call up after two minutes, so a call of several requests ends before.
const (
	metadataTime = 10 * time.Second
	requestTime  = 30 * time.Second
	callTime     = 100 * time.Second
	// pause is between requests that EC2 is not ready for yet.
	pause = time.Second
)

// ErrNoMetadata: there is no instance metadata service, so this is no EC2 instance, or it does not answer.
var ErrNoMetadata = errors.New("the instance metadata service does not answer")

// Instance is what a node's instance is, as its metadata say.
type Instance struct {
	ID, Type, Region, Zone, VPC, Subnet string
	// MAC is the primary interface's.
	MAC    string
	Groups []string
}

// Config describes a Client. The zero Config is valid.
type Config struct {
	// SetUp makes the host ready for an interface; nil: nothing is to be done.
	SetUp func(ctx context.Context, eni string) error
	// Tags are given to new interfaces, beside those by which they are known.
	Tags map[string]string
	// Sockets, where set, are asked in place of what the environment says; region and credentials are then the metadata service's.
	Sockets Sockets
	// SubnetDiscovery puts new interfaces into subnets that are tagged for them: see SubnetTag. Without it they are in the
	// primary interface's.
	SubnetDiscovery bool
	// PodSubnet, where set, is the one subnet of new interfaces: custom networking, as the node's ENIConfig says.
	PodSubnet string
	// Requested, where set, is told of each request to EC2: its name, how long it took, and why it failed.
	Requested func(name string, took time.Duration, err error)
	// Sleep waits between two requests; nil: as long as it takes.
	Sleep func(ctx context.Context, d time.Duration)
	Log   *slog.Logger
}

// Sockets are unix sockets of a double of AWS: EC2's endpoint, and the metadata service of one instance. Who is on no instance has a key and
// a region in place of that.
type Sockets struct{ API, Metadata, Region, Key, Secret string }

// through speaks HTTP by a unix socket, whatever the URL says.
func through(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
}

// Client performs calls for one instance, one at a time.
type Client struct {
	cfg      Config
	instance Instance
	ec2      api
	imds     *imds.Client
	// sweeps is at how many looks interfaces are still searched for that may have been left behind.
	sweeps int
}

// sweepLooks is at how many looks leftovers are searched for: EC2 may not show one at the first.
const sweepLooks = 3

// Connect asks the metadata service what instance this is. Error: ErrNoMetadata.
func Connect(ctx context.Context, cfg Config) (*Client, error) {
	cfg.complete()
	sdk, metadata, err := cfg.sdk(ctx)
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	c := &Client{cfg: cfg, sweeps: sweepLooks, imds: metadata}
	err = c.identify(ctx)
	for tries := 1; tries < identifyTries && unreached(err); tries++ {
		err = c.identify(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrNoMetadata, cause(err))
	}
	if sdk.Region == "" {
		sdk.Region = c.instance.Region
	}
	c.ec2 = apiOf(ec2.NewFromConfig(sdk))
	return c, nil
}

// identifyTries is how often the metadata service is asked that is not reached: the SDK gives a connection up after a second, which a
// busy machine may take.
const identifyTries = 3

func unreached(err error) bool {
	sent := (*smithyhttp.RequestSendError)(nil)
	return errors.As(err, &sent)
}

// sdk is the SDK's configuration, which repeats nothing by itself, and a client of the metadata service.
func (cfg *Config) sdk(ctx context.Context) (sdk aws.Config, metadata *imds.Client, err error) {
	retryer := func() aws.Retryer { return aws.NopRetryer{} }
	strict := func(o *imds.Options) { o.EnableFallback = aws.FalseTernary }
	if cfg.Sockets == (Sockets{}) {
		sdk, err = config.LoadDefaultConfig(ctx, config.WithRetryer(retryer))
		if sdk.HTTPClient != nil {
			sdk.HTTPClient = ownBody{sdk.HTTPClient}
		}
		return sdk, imds.NewFromConfig(sdk, strict), err
	}
	if cfg.Sockets.Metadata == "" {
		return aws.Config{Retryer: retryer, HTTPClient: ownBody{through(cfg.Sockets.API)}, BaseEndpoint: aws.String("http://ec2"), Region: cfg.Sockets.Region,
			Credentials: credentials.NewStaticCredentialsProvider(cfg.Sockets.Key, cfg.Sockets.Secret, "")}, nil, nil
	}
	metadata = imds.NewFromConfig(aws.Config{Retryer: retryer, HTTPClient: through(cfg.Sockets.Metadata)}, strict)
	sdk = aws.Config{Retryer: retryer, HTTPClient: ownBody{through(cfg.Sockets.API)}, BaseEndpoint: aws.String("http://ec2"),
		Credentials: aws.NewCredentialsCache(ec2rolecreds.New(func(o *ec2rolecreds.Options) { o.Client = metadata }))}
	return sdk, metadata, nil
}

// sleep waits, but not longer than ctx.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// Instance is what the metadata service said.
func (c *Client) Instance() Instance { return c.instance }

func (c *Client) identify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, metadataTime)
	defer cancel()
	doc, err := c.imds.GetInstanceIdentityDocument(ctx, nil)
	if err != nil {
		return err
	}
	i := Instance{ID: doc.InstanceID, Type: doc.InstanceType, Region: doc.Region, Zone: doc.AvailabilityZone}
	if i.MAC, err = c.metadata(ctx, "mac"); err != nil {
		return err
	}
	if i.Subnet, err = c.metadata(ctx, interfacePath(i.MAC, "subnet-id")); err != nil {
		return err
	}
	if i.VPC, err = c.metadata(ctx, interfacePath(i.MAC, "vpc-id")); err != nil {
		return err
	}
	groups, err := c.metadataLines(ctx, interfacePath(i.MAC, "security-group-ids"))
	if err == nil && (i.ID == "" || i.MAC == "" || i.Subnet == "") {
		err = fmt.Errorf("it names instance %q with primary interface %q in subnet %q", i.ID, i.MAC, i.Subnet)
	}
	i.Groups = groups
	c.instance = i
	return err
}

// Limits are the instance type's, of the table, or of EC2 for a type that is not in it.
func (c *Client) Limits(ctx context.Context) (datastore.Limits, error) {
	if l, ok := datastore.LimitsOf(c.instance.Type); ok {
		return l, nil
	}
	out, err := request(ctx, c, "DescribeInstanceTypes", c.ec2.describeInstanceTypes, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{types.InstanceType(c.instance.Type)}})
	if err != nil {
		return datastore.Limits{}, err
	}
	if len(out.InstanceTypes) != 1 || out.InstanceTypes[0].NetworkInfo == nil {
		return datastore.Limits{}, fmt.Errorf("EC2 says nothing of instance type %s", c.instance.Type)
	}
	n := out.InstanceTypes[0].NetworkInfo
	return datastore.Limits{ENIs: int(aws.ToInt32(n.MaximumNetworkInterfaces)), IPv4PerENI: int(aws.ToInt32(n.Ipv4AddressesPerInterface))}, nil
}

// unknownCodes are those by which EC2's servers say that they failed, which is no refusal.
var unknownCodes = map[string]bool{"InternalError": true, "InternalFailure": true, "ServiceUnavailable": true, "Unavailable": true}

// refusal is EC2's refusal of a request: nothing was done.
type refusal struct{ request, code, message string }

func (r *refusal) Error() string { return fmt.Sprintf("%s: %s: %s", r.request, r.code, r.message) }

// ErrorCode is EC2's code; a Manager looks at it.
func (r *refusal) ErrorCode() string { return r.code }

// understood is an error of the SDK as a refusal, or without a code when it is unknown what was done.
func understood(name string, err error) error {
	var coded smithy.APIError
	if errors.As(err, &coded) && !unknownCodes[coded.ErrorCode()] {
		return &refusal{name, coded.ErrorCode(), coded.ErrorMessage()}
	}
	return fmt.Errorf("%s: %s", name, cause(err)) // without its chain, in which a server's failure has a code
}

// cause is what an error of the SDK says behind the names of its layers.
func cause(err error) string {
	if sent := (*smithyhttp.RequestSendError)(nil); errors.As(err, &sent) {
		return sent.Err.Error()
	}
	if op := (*smithy.OperationError)(nil); errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}

// codeOf is the code of a refusal, "" for any other error.
func codeOf(err error) string {
	if r := (*refusal)(nil); errors.As(err, &r) {
		return r.code
	}
	return ""
}

// metadata is one text of the metadata service, "" where it has none.
func (c *Client) metadata(ctx context.Context, path string) (string, error) {
	out, err := c.imds.GetMetadata(ctx, &imds.GetMetadataInput{Path: path})
	if answer := (*smithyhttp.ResponseError)(nil); errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusNotFound {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("metadata %s: %s", path, cause(err))
	}
	text, err := io.ReadAll(io.LimitReader(out.Content, 1<<20))
	return string(text), errors.Join(err, out.Content.Close())
}
