import Glibc

/// A name by which clients reach a machine: a host name or an IP address.
package enum MachineName: Sendable, Hashable {
    /// In lower case.
    case host(String)
    /// As the system writes it.
    case address(String)

    /// Parses a name or an address; `nil` for any other text. An IPv6 address may have brackets.
    package init?(_ text: String) {
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        if let address = Self.canonical(bare) {
            self = .address(address)
            return
        }
        // RFC 1123, 2.1 forbids the underscore in host names, but some networks use it. A wildcard stands for one
        // label.
        let labels = text.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        let isName =
            text.utf8.count <= 253
            && labels.enumerated().allSatisfy { index, label in
                (index == 0 && label == "*" && labels.count > 2)
                    || ((1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                        && label.utf8.allSatisfy(Self.isNameByte))
            }
        // Clients would parse a name with a numeric last label as an IP address.
        guard isName, let last = labels.last, !last.utf8.allSatisfy(Self.isDigit) else { return nil }
        self = .host(labels.joined(separator: "."))
    }

    package var text: String {
        switch self {
        case .host(let text), .address(let text): text
        }
    }

    /// The names of the loopback interface.
    static let ofLoopback: [MachineName] = [.host("localhost"), .address("127.0.0.1"), .address("::1")]

    /// Returns the names under which other machines may know this one: its host name, the same with `.local` (mDNS, RFC
    /// 6762), and its addresses except the link-local ones.
    static func ofThisMachine() -> [MachineName] {
        var names: [MachineName] = []
        var buffer = [CChar](repeating: 0, count: 256)
        if gethostname(&buffer, buffer.count - 1) == 0 {
            let text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if let name = MachineName(text) { names.append(name) }
            if !text.contains("."), let local = MachineName("\(text).local") { names.append(local) }
        }
        for address in Self.interfaceAddresses() where !names.contains(address) { names.append(address) }
        return names.filter { !Self.ofLoopback.contains($0) }
    }

    private static func interfaceAddresses() -> [MachineName] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: [MachineName] = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            let flags = Int32(bitPattern: UInt32(entry.ifa_flags))
            let isUp = flags & Int32(IFF_UP) != 0 && flags & Int32(IFF_LOOPBACK) == 0
            guard isUp, let address = entry.ifa_addr, let text = Self.text(of: address) else { continue }
            if !text.hasPrefix("fe80:"), !text.hasPrefix("169.254.") { found.append(.address(text)) }
        }
        return found
    }

    /// Returns the IP address as text; `nil` for another address family.
    private static func text(of address: UnsafeMutablePointer<sockaddr>) -> String? {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Self.text(AF_INET, &$0.pointee.sin_addr) }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { Self.text(AF_INET6, &$0.pointee.sin6_addr) }
        default:
            nil
        }
    }

    private static func text(_ family: Int32, _ bytes: UnsafeRawPointer) -> String? {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the address as the system formats it; `nil` for a text that is not an address.
    private static func canonical(_ text: String) -> String? {
        for family in [AF_INET, AF_INET6] {
            var bytes = [UInt8](repeating: 0, count: 16)
            guard inet_pton(family, text, &bytes) == 1 else { continue }
            return Self.text(family, bytes)
        }
        return nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        Self.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_")
    }
}
