import { lookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

/**
 * Addresses that no notification goes to unless the target allows it: link-local ones, under which clouds tell a machine its
 * credentials, the others that clouds use for the same, and "this host" (RFC 1122, RFC 3927, RFC 4291).
 */
const refused = new BlockList();
refused.addSubnet('169.254.0.0', 16, 'ipv4');
refused.addSubnet('0.0.0.0', 8, 'ipv4');
refused.addAddress('100.100.100.200', 'ipv4');
refused.addAddress('192.0.0.192', 'ipv4');
refused.addSubnet('fe80::', 10, 'ipv6');
refused.addSubnet('fd00:ec2::', 32, 'ipv6');
refused.addAddress('fd20:ce::254', 'ipv6');
refused.addAddress('::', 'ipv6');
// The same IPv4 addresses as NAT64 (RFC 6052) and 6to4 (RFC 3056) write them.
refused.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
refused.addSubnet('2002:a9fe::', 32, 'ipv6');

/** Whether nothing is sent to this address. What is no address is not refused: it is looked up first. */
export function isRefusedAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && refused.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Why a host is not connected to. */
export function refusedAddressText(host: string): string {
  return `${host} leads to a link-local address, as those of cloud metadata are; set allowLinkLocal if it is meant`;
}

/**
 * Looks a host up as node would, but answers no refused address. The connection is made to what was checked, so that a name
 * cannot lead elsewhere between the two.
 */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const addresses: readonly LookupAddress[] = found ?? [];
    const allowed = addresses.filter(({ address }) => !isRefusedAddress(address));
    const [first] = allowed;
    if (error || !first) {
      callback(error ?? new Error(refusedAddressText(hostname)), '', 0);
    } else if (options.all === true) callback(null, [...allowed]);
    else callback(null, first.address, first.family);
  });
};
