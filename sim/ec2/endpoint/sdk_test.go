package endpoint_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/netip"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	api "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/ec2/endpoint"
)

// The double is what AWS' own SDK takes for EC2 and for the metadata service. Each test lets the SDK, which shares nothing with the
// double, do what a node's daemon does, and compares what it understood with what the region has.

const accessKey, secretKey = "AKIAEXAMPLE", "a-secret-of-tests"

// cloud is a region with two subnets and one instance, behind HTTP, and the SDK's clients of it.
type cloud struct {
	*testing.T
	ctx    context.Context
	server *endpoint.Server
	host   *ec2.Host
	now    time.Time
	ec2    *api.Client
	imds   *imds.Client
}

func newCloud(t *testing.T, cfg ec2.RegionConfig) *cloud {
	c := &cloud{T: t, ctx: t.Context(), now: time.Unix(1700000000, 0).UTC()}
	region := ec2.NewRegion(cfg)
	small := ec2.NewSubnet(netip.MustParsePrefix("10.9.0.0/27"))
	large := ec2.NewSubnet(netip.MustParsePrefix("10.0.0.0/20"))
	large.Add6(netip.MustParsePrefix("2001:db8:0:1::/64"))
	region.AddSubnet(ec2.Place{ID: "subnet-small", Zone: "eu-central-1a", Subnet: small, Tags: map[string]string{"kubernetes.io/role/cni": "1"}})
	region.AddSubnet(ec2.Place{ID: "subnet-large", Zone: "eu-central-1a", Subnet: large})
	var err error
	if c.host, err = region.Launch(c.now, "m5.large", "subnet-large", ec2.Limits{ENIs: 3, IPv4PerENI: 10}); err != nil {
		t.Fatal(err)
	}
	c.server = endpoint.New(endpoint.Config{Region: region, Name: "eu-central-1", AccessKey: accessKey, SecretKey: secretKey,
		Now: func() time.Time { return c.now }, Types: func(name string) (ec2.Limits, bool) { return ec2.Limits{ENIs: 3, IPv4PerENI: 10}, name == "m5.large" }})
	requests, metadata := httptest.NewServer(c.server.API()), httptest.NewServer(c.server.Metadata(c.host.ID))
	t.Cleanup(requests.Close)
	t.Cleanup(metadata.Close)
	c.ec2 = c.client(requests.URL, accessKey, 1)
	c.imds = imds.New(imds.Options{Endpoint: metadata.URL, EnableFallback: aws.FalseTernary, Retryer: aws.NopRetryer{}})
	return c
}

// client is the SDK's, which tries so often.
func (c *cloud) client(url, key string, tries int) *api.Client {
	return api.New(api.Options{HTTPClient: &http.Client{Transport: copied{}}, Region: "eu-central-1", BaseEndpoint: aws.String(url), RetryMaxAttempts: tries,
		Credentials: credentials.NewStaticCredentialsProvider(key, secretKey, "")})
}

// copied sends copies of requests' bodies. The SDK closes a body when the answer comes, and an answer from the same machine may come while
// net/http still looks whether the body has ended: it then closes the connection under the answer.
type copied struct{}

// RoundTrip implements http.RoundTripper.
func (copied) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return http.DefaultTransport.RoundTrip(r)
}

// refused is the code of a refusal, as the SDK reads it.
func (c *cloud) refused(what string, err error, code string) {
	c.Helper()
	var coded smithy.APIError
	if !errors.As(err, &coded) || coded.ErrorCode() != code {
		c.Errorf("%s: %v, want %s", what, err, code)
	}
}

func must[T any](c *cloud, v T, err error) T {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
	return v
}

func (c *cloud) create(subnet string) *types.NetworkInterface {
	c.Helper()
	out, err := c.ec2.CreateNetworkInterface(c.ctx, &api.CreateNetworkInterfaceInput{SubnetId: aws.String(subnet), Description: aws.String("aws-K8S-test"), SecondaryPrivateIpAddressCount: aws.Int32(2),
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeNetworkInterface, Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("b & c")}}}}})
	return must(c, out, err).NetworkInterface
}

// meta reads one thing of the metadata service, "" when it is not there.
func (c *cloud) meta(path string) string {
	c.Helper()
	out, err := c.imds.GetMetadata(c.ctx, &imds.GetMetadataInput{Path: path})
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(out.Content)
	return string(must(c, text, err))
}

// An interface's whole life: made, attached, filled with addresses and prefixes of both families, tagged, emptied, detached, deleted.
func TestSDKLivesThroughAnInterface(t *testing.T) {
	c := newCloud(t, ec2.RegionConfig{AttachDelay: 5 * time.Second})
	made := c.create("subnet-large")
	id := made.NetworkInterfaceId
	if len(made.PrivateIpAddresses) != 3 || !aws.ToBool(made.PrivateIpAddresses[0].Primary) || aws.ToString(made.TagSet[0].Value) != "b & c" || made.Status != types.NetworkInterfaceStatusAvailable {
		t.Errorf("made %+v", made)
	}
	attached, err := c.ec2.AttachNetworkInterface(c.ctx, &api.AttachNetworkInterfaceInput{NetworkInterfaceId: id, InstanceId: &c.host.ID, DeviceIndex: aws.Int32(1)})
	attachment := must(c, attached, err).AttachmentId
	if got := c.describe(*id); got.Attachment.Status != types.AttachmentStatusAttaching || aws.ToInt32(got.Attachment.DeviceIndex) != 1 {
		t.Errorf("attachment %+v", got.Attachment)
	}
	mac := *made.MacAddress
	if c.meta("network/interfaces/macs/"+mac+"/device-number") != "" {
		t.Error("the metadata service shows an interface that is being attached")
	}
	c.now = c.now.Add(5 * time.Second)
	if got := c.describe(*id); got.Attachment.Status != types.AttachmentStatusAttached {
		t.Errorf("attachment %+v", got.Attachment)
	}
	if got := c.meta("network/interfaces/macs/" + mac + "/device-number"); got != "1" {
		t.Errorf("device-number %q", got)
	}
	_, err = c.ec2.ModifyNetworkInterfaceAttribute(c.ctx, &api.ModifyNetworkInterfaceAttributeInput{NetworkInterfaceId: id,
		Attachment: &types.NetworkInterfaceAttachmentChanges{AttachmentId: attachment, DeleteOnTermination: aws.Bool(true)}})
	must(c, 0, err)
	_, err = c.ec2.CreateTags(c.ctx, &api.CreateTagsInput{Resources: []string{*id}, Tags: []types.Tag{{Key: aws.String("owner"), Value: aws.String("node")}}})
	must(c, 0, err)
	if got := c.describe(*id); !aws.ToBool(got.Attachment.DeleteOnTermination) || len(got.TagSet) != 2 {
		t.Errorf("%+v %+v", got.Attachment, got.TagSet)
	}

	one, err := c.ec2.AssignPrivateIpAddresses(c.ctx, &api.AssignPrivateIpAddressesInput{NetworkInterfaceId: id, SecondaryPrivateIpAddressCount: aws.Int32(1)})
	address := *must(c, one, err).AssignedPrivateIpAddresses[0].PrivateIpAddress
	two, err := c.ec2.AssignPrivateIpAddresses(c.ctx, &api.AssignPrivateIpAddressesInput{NetworkInterfaceId: id, Ipv4PrefixCount: aws.Int32(2)})
	prefixes := must(c, two, err).AssignedIpv4Prefixes
	six, err := c.ec2.AssignIpv6Addresses(c.ctx, &api.AssignIpv6AddressesInput{NetworkInterfaceId: id, Ipv6PrefixCount: aws.Int32(1)})
	prefix6 := must(c, six, err).AssignedIpv6Prefixes[0]
	if p := netip.MustParsePrefix(prefix6); p.Bits() != 80 {
		t.Errorf("assigned %s", p)
	}
	got := c.describe(*id)
	if len(got.PrivateIpAddresses) != 4 || len(got.Ipv4Prefixes) != 2 || len(got.Ipv6Prefixes) != 1 || aws.ToString(got.Ipv6Prefixes[0].Ipv6Prefix) != prefix6 {
		t.Errorf("described %d addresses, %d prefixes, %d of IPv6", len(got.PrivateIpAddresses), len(got.Ipv4Prefixes), len(got.Ipv6Prefixes))
	}
	base := "network/interfaces/macs/" + mac + "/"
	if got, want := c.meta(base+"ipv4-prefix"), *prefixes[0].Ipv4Prefix+"\n"+*prefixes[1].Ipv4Prefix; got != want {
		t.Errorf("ipv4-prefix %q, want %q", got, want)
	}
	if got := c.meta(base + "ipv6-prefix"); got != prefix6 {
		t.Errorf("ipv6-prefix %q, want %s", got, prefix6)
	}
	_, err = c.ec2.UnassignPrivateIpAddresses(c.ctx, &api.UnassignPrivateIpAddressesInput{NetworkInterfaceId: id, PrivateIpAddresses: []string{address}})
	must(c, 0, err)
	_, err = c.ec2.UnassignPrivateIpAddresses(c.ctx, &api.UnassignPrivateIpAddressesInput{NetworkInterfaceId: id, Ipv4Prefixes: []string{*prefixes[0].Ipv4Prefix}})
	must(c, 0, err)
	_, err = c.ec2.UnassignIpv6Addresses(c.ctx, &api.UnassignIpv6AddressesInput{NetworkInterfaceId: id, Ipv6Prefixes: []string{prefix6}})
	must(c, 0, err)

	_, err = c.ec2.DeleteNetworkInterface(c.ctx, &api.DeleteNetworkInterfaceInput{NetworkInterfaceId: id})
	c.refused("delete what is attached", err, ec2.CodeInvalid)
	_, err = c.ec2.DetachNetworkInterface(c.ctx, &api.DetachNetworkInterfaceInput{AttachmentId: attachment})
	must(c, 0, err)
	if got := c.describe(*id); got.Attachment == nil || got.Attachment.Status != types.AttachmentStatusDetaching {
		t.Errorf("attachment %+v", got.Attachment)
	}
	c.now = c.now.Add(5 * time.Second)
	if got := c.describe(*id); got.Attachment != nil || got.Status != types.NetworkInterfaceStatusAvailable {
		t.Errorf("attachment %+v", got.Attachment)
	}
	_, err = c.ec2.DeleteNetworkInterface(c.ctx, &api.DeleteNetworkInterfaceInput{NetworkInterfaceId: id})
	must(c, 0, err)
	_, err = c.ec2.DescribeNetworkInterfaces(c.ctx, &api.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{*id}})
	c.refused("describe what is gone", err, ec2.CodeUnknownENI)
	c.server.Ask(func(_ time.Time, r *ec2.Region) {
		if free := r.Places()[1].Free(); free != 4096-5-1 {
			t.Errorf("%d addresses are free, want all but AWS' 5 and the instance's own", free)
		}
	})
}

func (c *cloud) describe(id string) types.NetworkInterface {
	c.Helper()
	out, err := c.ec2.DescribeNetworkInterfaces(c.ctx, &api.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
	return must(c, out, err).NetworkInterfaces[0]
}

// Refusals have EC2's own codes, and nothing was done.
func TestSDKReadsRefusals(t *testing.T) {
	c := newCloud(t, ec2.RegionConfig{})
	primary := c.host.Attached()[0].ID
	_, err := c.ec2.AssignPrivateIpAddresses(c.ctx, &api.AssignPrivateIpAddressesInput{NetworkInterfaceId: &primary, SecondaryPrivateIpAddressCount: aws.Int32(10)})
	c.refused("more than the type's limit", err, ec2.CodeTooManyIPs)
	_, err = c.ec2.AssignPrivateIpAddresses(c.ctx, &api.AssignPrivateIpAddressesInput{NetworkInterfaceId: aws.String("eni-0"), SecondaryPrivateIpAddressCount: aws.Int32(1)})
	c.refused("an unknown interface", err, ec2.CodeUnknownENI)
	_, err = c.ec2.CreateNetworkInterface(c.ctx, &api.CreateNetworkInterfaceInput{SubnetId: aws.String("subnet-small"), SecondaryPrivateIpAddressCount: aws.Int32(40)})
	c.refused("more than a subnet has", err, ec2.CodeSubnetFull)
	_, err = c.ec2.CreateNetworkInterface(c.ctx, &api.CreateNetworkInterfaceInput{SubnetId: aws.String("subnet-small"), Ipv4PrefixCount: aws.Int32(2)})
	c.refused("more /28 than a subnet has", err, ec2.CodeNoBlock)
	_, err = c.ec2.CreateNetworkInterface(c.ctx, &api.CreateNetworkInterfaceInput{SubnetId: aws.String("subnet-none")})
	c.refused("an unknown subnet", err, ec2.CodeUnknownSubnet)
	_, err = c.ec2.UnassignPrivateIpAddresses(c.ctx, &api.UnassignPrivateIpAddressesInput{NetworkInterfaceId: &primary, PrivateIpAddresses: []string{"10.0.9.9"}})
	c.refused("an address that is not there", err, ec2.CodeNotAssigned)
	for range 2 {
		one := c.create("subnet-small")
		_, err = c.ec2.AttachNetworkInterface(c.ctx, &api.AttachNetworkInterfaceInput{NetworkInterfaceId: one.NetworkInterfaceId, InstanceId: &c.host.ID, DeviceIndex: aws.Int32(int32(len(c.host.Attached())))})
		must(c, 0, err)
	}
	_, err = c.ec2.AttachNetworkInterface(c.ctx, &api.AttachNetworkInterfaceInput{NetworkInterfaceId: c.create("subnet-large").NetworkInterfaceId, InstanceId: &c.host.ID, DeviceIndex: aws.Int32(7)})
	c.refused("more interfaces than the type's limit", err, ec2.CodeTooManyENIs)
	_, err = c.ec2.DetachNetworkInterface(c.ctx, &api.DetachNetworkInterfaceInput{AttachmentId: c.describe(primary).Attachment.AttachmentId})
	c.refused("the primary interface", err, ec2.CodeNotDetachable)
	_, err = c.ec2.DescribeVolumes(c.ctx, &api.DescribeVolumesInput{})
	c.refused("an unknown action", err, "InvalidAction")
	server := httptest.NewServer(c.server.API())
	t.Cleanup(server.Close)
	_, err = c.client(server.URL, "AKIAOTHER", 1).DescribeSubnets(c.ctx, &api.DescribeSubnetsInput{})
	c.refused("somebody else's key", err, "AuthFailure")
}

// A listing comes in pages, which the SDK's paginator puts together, and filters choose from it.
func TestSDKReadsPages(t *testing.T) {
	c := newCloud(t, ec2.RegionConfig{})
	for range 12 {
		c.create("subnet-large")
	}
	seen, pages := map[string]bool{}, 0
	for p := api.NewDescribeNetworkInterfacesPaginator(c.ec2, &api.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(5)}); p.HasMorePages(); pages++ {
		out, err := p.NextPage(c.ctx)
		for _, i := range must(c, out, err).NetworkInterfaces {
			seen[*i.NetworkInterfaceId] = true
		}
	}
	if len(seen) != 13 || pages != 3 {
		t.Errorf("%d interfaces on %d pages, want 13 on 3", len(seen), pages)
	}
	for filter, want := range map[[2]string]int{
		{"attachment.instance-id", c.host.ID}: 1, {"status", "available"}: 12, {"description", "aws-K8S-*"}: 12, {"tag:a", "b & c"}: 12, {"tag:a", "b"}: 0,
	} {
		out, err := c.ec2.DescribeNetworkInterfaces(c.ctx, &api.DescribeNetworkInterfacesInput{Filters: []types.Filter{{Name: &filter[0], Values: []string{filter[1]}}}})
		if got := len(must(c, out, err).NetworkInterfaces); got != want {
			t.Errorf("%s: %d interfaces, want %d", filter, got, want)
		}
	}
	_, err := c.ec2.DescribeNetworkInterfaces(c.ctx, &api.DescribeNetworkInterfacesInput{Filters: []types.Filter{{Name: aws.String("colour"), Values: []string{"red"}}}})
	c.refused("an unknown filter", err, ec2.CodeInvalid)
	out, err := c.ec2.DescribeSubnets(c.ctx, &api.DescribeSubnetsInput{Filters: []types.Filter{{Name: aws.String("tag:kubernetes.io/role/cni"), Values: []string{"1"}}}})
	if got := must(c, out, err).Subnets; len(got) != 1 || *got[0].SubnetId != "subnet-small" || *got[0].AvailableIpAddressCount != 27 {
		t.Errorf("subnets %+v", got)
	}
	kinds, err := c.ec2.DescribeInstanceTypes(c.ctx, &api.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{"m5.large"}})
	if n := must(c, kinds, err).InstanceTypes[0].NetworkInfo; *n.MaximumNetworkInterfaces != 3 || *n.Ipv4AddressesPerInterface != 10 {
		t.Errorf("m5.large %+v", n)
	}
	hosts, err := c.ec2.DescribeInstances(c.ctx, &api.DescribeInstancesInput{InstanceIds: []string{c.host.ID}})
	if got := must(c, hosts, err).Reservations[0].Instances[0]; got.InstanceType != "m5.large" || len(got.NetworkInterfaces) != 1 {
		t.Errorf("instance %+v", got)
	}
}

// What was made just now is unknown to the next request: EC2 is eventually consistent. One account's requests are limited.
func TestSDKMeetsEventualConsistencyAndLimits(t *testing.T) {
	c := newCloud(t, ec2.RegionConfig{ReadLag: 3 * time.Second, Account: ec2.NewAccount(time.Unix(1700000000, 0), 1, 3)})
	id := c.create("subnet-large").NetworkInterfaceId
	_, err := c.ec2.AttachNetworkInterface(c.ctx, &api.AttachNetworkInterfaceInput{NetworkInterfaceId: id, InstanceId: &c.host.ID, DeviceIndex: aws.Int32(1)})
	c.refused("what was made just now", err, ec2.CodeUnknownENI)
	if out, err := c.ec2.DescribeNetworkInterfaces(c.ctx, &api.DescribeNetworkInterfacesInput{}); len(must(c, out, err).NetworkInterfaces) != 1 {
		t.Errorf("%d interfaces are shown at once", len(out.NetworkInterfaces))
	}
	_, err = c.ec2.DescribeNetworkInterfaces(c.ctx, &api.DescribeNetworkInterfacesInput{})
	c.refused("the fourth request at once", err, ec2.CodeThrottled)
	c.now = c.now.Add(3 * time.Second)
	_, err = c.ec2.AttachNetworkInterface(c.ctx, &api.AttachNetworkInterfaceInput{NetworkInterfaceId: id, InstanceId: &c.host.ID, DeviceIndex: aws.Int32(1)})
	must(c, 0, err)
}

// The SDK repeats a creation whose answer was lost, with the same token: it is made once, and told of as it is.
func TestSDKRepeatsALostCreation(t *testing.T) {
	c := newCloud(t, ec2.RegionConfig{})
	server := httptest.NewServer(c.server.API())
	t.Cleanup(server.Close)
	c.ec2 = c.client(server.URL, accessKey, 3)
	c.server.Play(endpoint.Fault{Action: "CreateNetworkInterface", Times: 1, Lost: true})
	made := c.create("subnet-large")
	if n := c.server.Requests("CreateNetworkInterface"); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	out, err := c.ec2.DescribeNetworkInterfaces(c.ctx, &api.DescribeNetworkInterfacesInput{Filters: []types.Filter{{Name: aws.String("status"), Values: []string{"available"}}}})
	if got := must(c, out, err).NetworkInterfaces; len(got) != 1 || *got[0].NetworkInterfaceId != *made.NetworkInterfaceId {
		t.Errorf("%d interfaces after a repeated creation", len(got))
	}
	c.server.Play(endpoint.Fault{Action: "DescribeSubnets", Times: 2, Code: ec2.CodeThrottled})
	subnets, err := c.ec2.DescribeSubnets(c.ctx, &api.DescribeSubnetsInput{})
	if len(must(c, subnets, err).Subnets) != 2 {
		t.Error("the SDK did not get over a throttled request")
	}
}

// The metadata service gives a session to whoever asks for one, the node's identity and its role's credentials; without a session
// nothing. One that hangs ends by the caller's deadline.
func TestSDKReadsMetadata(t *testing.T) {
	c := newCloud(t, ec2.RegionConfig{})
	doc, err := c.imds.GetInstanceIdentityDocument(c.ctx, nil)
	if must(c, doc, err); doc.InstanceID != c.host.ID || doc.Region != "eu-central-1" || doc.InstanceType != "m5.large" {
		t.Errorf("document %+v", doc.InstanceIdentityDocument)
	}
	own := c.meta("mac")
	for path, want := range map[string]string{
		"instance-id": c.host.ID, "instance-type": "m5.large", "placement/availability-zone": "eu-central-1a", "network/interfaces/macs/": own + "/",
		"network/interfaces/macs/" + own + "/interface-id": c.host.Attached()[0].ID, "network/interfaces/macs/" + own + "/subnet-id": "subnet-large",
		"network/interfaces/macs/" + own + "/subnet-ipv4-cidr-block": "10.0.0.0/20", "network/interfaces/macs/" + own + "/ipv4-prefix": "", "nothing": "",
	} {
		if got := c.meta(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	server := httptest.NewServer(c.server.Metadata(c.host.ID))
	t.Cleanup(server.Close)
	out, err := server.Client().Get(server.URL + "/latest/meta-data/instance-id")
	if must(c, out, err).StatusCode != 401 {
		t.Errorf("version 1 is answered with %s", out.Status)
	}
	must(c, 0, out.Body.Close())
	c.server.Play(endpoint.Fault{Action: endpoint.Metadata, Times: 1, Hangs: true})
	short, cancel := context.WithCancel(t.Context())
	short = httptrace.WithClientTrace(short, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { cancel() }})
	if _, err := c.imds.GetMetadata(short, &imds.GetMetadataInput{Path: "mac"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a hanging metadata service: %v", err)
	}
}
