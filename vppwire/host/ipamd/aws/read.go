package aws

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// InstanceTag is on every interface that ipamd makes, with the instance's ID; upstream's ipamd uses the same.
const InstanceTag = "node.k8s.amazonaws.com/instance_id"

const interfacesPath = "network/interfaces/macs"

func interfacePath(mac, key string) string { return interfacesPath + "/" + mac + "/" + key }

// metadataLines are the lines of a text of the metadata service.
func (c *Client) metadataLines(ctx context.Context, path string) ([]string, error) {
	text, err := c.metadata(ctx, path)
	return strings.Fields(text), err
}

// readMetadata lists the attached interfaces as the metadata service has them.
func (c *Client) readMetadata(ctx context.Context) ([]datastore.AttachedENI, error) {
	ctx, cancel := context.WithTimeout(ctx, metadataTime)
	defer cancel()
	macs, err := c.metadataLines(ctx, interfacesPath+"/")
	if err != nil {
		return nil, err
	}
	var list []datastore.AttachedENI
	for _, mac := range macs {
		e, err := c.metadataOf(ctx, strings.TrimSuffix(mac, "/"))
		if err != nil {
			return nil, err
		}
		if e.ID != "" { // it went away in between
			list = append(list, e)
		}
	}
	return list, nil
}

func (c *Client) metadataOf(ctx context.Context, mac string) (e datastore.AttachedENI, err error) {
	e.Primary = mac == c.instance.MAC
	if e.ID, err = c.metadata(ctx, interfacePath(mac, "interface-id")); err != nil || e.ID == "" {
		return e, err
	}
	device, err := c.metadata(ctx, interfacePath(mac, "device-number"))
	if err != nil {
		return e, err
	}
	if e.Device, err = strconv.Atoi(device); err != nil {
		return e, fmt.Errorf("metadata: %s has device-number %q", e.ID, device)
	}
	addresses, err := c.metadataLines(ctx, interfacePath(mac, "local-ipv4s"))
	if err != nil {
		return e, err
	}
	prefixes, err := c.metadataLines(ctx, interfacePath(mac, "ipv4-prefix"))
	if err != nil || len(addresses) == 0 {
		return e, err
	}
	e.Units, err = units(addresses[1:], prefixes) // the first is the interface's own
	return e, err
}

// units are secondary addresses and delegated prefixes, ascending.
func units(addresses, prefixes []string) (list []netip.Prefix, err error) {
	for _, text := range addresses {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("AWS answers with the address %q", text)
		}
		list = append(list, netip.PrefixFrom(a, a.BitLen()))
	}
	for _, text := range prefixes {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("AWS answers with the prefix %q", text)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, netip.Prefix.Compare)
	return list, nil
}

// interfaces lists the interfaces that pass filters, from all pages.
func (c *Client) interfaces(ctx context.Context, filters ...types.Filter) (list []types.NetworkInterface, err error) {
	err = pages(func(token *string) (*string, error) {
		out, err := request(ctx, c, "DescribeNetworkInterfaces", c.ec2.describeNetworkInterfaces, &ec2.DescribeNetworkInterfacesInput{Filters: filters, NextToken: token})
		if err != nil {
			return nil, err
		}
		list = append(list, out.NetworkInterfaces...)
		return out.NextToken, nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}

// attached lists the instance's interfaces, without those that are being detached.
func (c *Client) attached(ctx context.Context) ([]types.NetworkInterface, error) {
	return c.interfaces(ctx, filter("attachment.instance-id", c.instance.ID), filter("attachment.status", "attaching", "attached"))
}

// describe lists what EC2 has attached to the instance.
func (c *Client) describe(ctx context.Context) ([]datastore.AttachedENI, error) {
	found, err := c.attached(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]datastore.AttachedENI, len(found))
	for n := range found {
		if list[n], err = attachedENI(&found[n]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b datastore.AttachedENI) int { return a.Device - b.Device })
	return list, nil
}

// attachedENI is an interface in the Manager's words.
func attachedENI(i *types.NetworkInterface) (e datastore.AttachedENI, err error) {
	e = datastore.AttachedENI{ID: aws.ToString(i.NetworkInterfaceId), Trunk: i.InterfaceType == types.NetworkInterfaceTypeTrunk, Tags: make(map[string]string, len(i.TagSet))}
	if i.Attachment != nil {
		e.Device = int(aws.ToInt32(i.Attachment.DeviceIndex))
		e.Primary = e.Device == 0 && aws.ToInt32(i.Attachment.NetworkCardIndex) == 0
	}
	for _, t := range i.TagSet {
		e.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	var addresses, prefixes []string
	for _, a := range i.PrivateIpAddresses {
		if !aws.ToBool(a.Primary) {
			addresses = append(addresses, aws.ToString(a.PrivateIpAddress))
		}
	}
	for _, p := range i.Ipv4Prefixes {
		prefixes = append(prefixes, aws.ToString(p.Ipv4Prefix))
	}
	e.Units, err = units(addresses, prefixes)
	return e, err
}

// sweep deletes interfaces that were made for this instance and are attached to none: what creations and deletions left
// behind that ended half way. What cannot be deleted now is tried again at the next look.
func (c *Client) sweep(ctx context.Context) {
	made, err := c.interfaces(ctx, filter("tag:"+InstanceTag, c.instance.ID))
	leaving := false
	for _, i := range made {
		if a := i.Attachment; a != nil {
			leaving = leaving || a.Status == types.AttachmentStatusDetaching
			continue
		}
		id := aws.ToString(i.NetworkInterfaceId)
		_, failed := request(ctx, c, "DeleteNetworkInterface", c.ec2.deleteNetworkInterface, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: &id})
		if failed != nil && codeOf(failed) != codeUnknownENI {
			err = failed
			continue
		}
		c.cfg.Log.Info("an interface that was left behind is deleted", "eni", id)
	}
	if err != nil {
		c.cfg.Log.Debug("interfaces may be left behind", "error", err)
	}
	if err == nil && !leaving {
		c.sweeps--
	}
}
