import Glibc
import NIOCore

extension NameResolver {
    /// The system's resolver: `/etc/hosts`, DNS, and the other sources of `nsswitch.conf`.
    static let system = NameResolver { host, port throws(NameFailure) in try SystemNames.lookUp(host, port: port) }
}

/// The system's blocking resolver.
enum SystemNames {
    /// The most addresses of each family that are tried. At 250 ms each, more would not get their turn.
    private static let limit = 8

    /// Returns a host's addresses in the system's order of preference (RFC 6724).
    static func lookUp(_ host: String, port: Int) throws(NameFailure) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else { throw NameFailure(code: code, systemError: errno) }
        defer { freeaddrinfo(list) }
        var counts: [Int32: Int] = [:]
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            let family = entry.pointee.ai_family
            guard let bytes = UnsafeRawPointer(entry.pointee.ai_addr), counts[family, default: 0] < Self.limit else {
                continue
            }
            switch family {
            case AF_INET: addresses.append(SocketAddress(bytes.load(as: sockaddr_in.self), host: host))
            case AF_INET6: addresses.append(SocketAddress(bytes.load(as: sockaddr_in6.self), host: host))
            default: continue
            }
            counts[family, default: 0] += 1
        }
        guard !addresses.isEmpty else { throw .unknown }
        return addresses
    }
}

extension NameFailure {
    /// Translates an error code of `getaddrinfo`.
    init(code: Int32, systemError: Int32) {
        switch code {
        // -5 and -9 are EAI_NODATA and EAI_ADDRFAMILY, which glibc declares for GNU programs only.
        case EAI_NONAME, -5, -9: self = .unknown
        case EAI_AGAIN: self = .noServer
        case EAI_SYSTEM: self = .failed(String(cString: strerror(systemError)))
        default: self = .failed(String(cString: gai_strerror(code)))
        }
    }
}
