/// A host and a port: `127.0.0.1:8080`, `localhost:0`, `[::1]:8080`.
package struct Endpoint: Sendable, Equatable, CustomStringConvertible {
    /// A name or an address; an IPv6 address without its brackets.
    package var host: String
    /// 0 asks the system for a free port.
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Parses `HOST:PORT`, with an IPv6 host in brackets; `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        guard let (host, port) = Endpoint.split(text), let port, let number = Endpoint.port(port) else { return nil }
        self.init(host: host, port: number)
    }

    package var description: String {
        self.host.utf8.contains(UInt8(ascii: ":")) ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
    }

    /// The address at which this machine reaches a listener: for the wildcard addresses, loopback.
    package var fromHere: Endpoint {
        switch self.host {
        case "0.0.0.0": Endpoint(host: "127.0.0.1", port: self.port)
        case "::": Endpoint(host: "::1", port: self.port)
        default: self
        }
    }

    /// Whether only this machine can reach the host.
    package var isLoopback: Bool { LoopbackHost.contains(self.host) }

    /// Splits `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`; the port, if there is one, as text.
    package static func split(_ text: some StringProtocol) -> (host: String, port: String?)? {
        guard let (host, isBracketed, port) = Self.parts(of: text) else { return nil }
        if isBracketed {
            guard host.utf8.contains(UInt8(ascii: ":")), host.utf8.allSatisfy(Self.isAddressByte) else { return nil }
        } else {
            guard (1...253).contains(host.utf8.count), host.utf8.allSatisfy(Self.isNameByte) else { return nil }
        }
        return (host, port)
    }

    /// Splits a text at its brackets and its colon; `nil` if something else follows the brackets. Neither part is
    /// checked.
    package static func parts(of text: some StringProtocol) -> (host: String, isBracketed: Bool, port: String?)? {
        let isBracketed = text.hasPrefix("[")
        let host: String
        var rest: Substring
        if isBracketed {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = String(text[text.index(after: text.startIndex)..<end])
            rest = Substring(text[text.index(after: end)...])
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            host = String(text[..<end])
            rest = Substring(text[end...])
        }
        if rest.isEmpty { return (host, isBracketed, nil) }
        guard rest.removeFirst() == ":" else { return nil }
        return (host, isBracketed, String(rest))
    }

    /// Parses a port number, 0 to 65,535, digits only.
    package static func port(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 5, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        return UInt16(text).map(Int.init)
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: ":"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Whether a byte may stand in the name of a host.
    package static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
