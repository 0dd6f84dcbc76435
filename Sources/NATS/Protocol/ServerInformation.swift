import NIOCore
import Wire

/// What a server says about itself in `INFO`: on each connection first, and later when something has changed.
package struct ServerInformation: Sendable, Equatable {
    package var serverID = ""
    package var serverName = ""
    package var version = ""
    /// The largest payload with its headers that the server accepts, in bytes.
    package var maximumPayload = 1 << 20
    package var supportsHeaders = false
    package var hasJetStream = false
    package var requiresCredentials = false
    package var requiresTLS = false
    package var offersTLS = false
    /// The text to sign with an NKey; `nil` where the server asks for no signature.
    package var nonce: String?
    /// The addresses of all servers of the cluster, as `host:port`.
    package var clusterAddresses: [String] = []
    /// Whether the server is about to stop and asks its clients to go elsewhere (lame duck mode).
    package var isLeaving = false

    package init() {}

    /// The largest number of cluster addresses that are kept: the first ones.
    static let maximumAddresses = 256

    /// Reads the JSON of an `INFO`. Unknown members are skipped, because newer servers have more.
    init(json: ByteBuffer) throws(NATSViolation) {
        let isWhole = json.withUnsafeReadableBytes { bytes in
            JSONReader.wholeObject(bytes) { key, reader in
                switch reader.kind() {
                case .string:
                    guard let value = reader.string() else { return false }
                    self.take(key.text, value.text)
                case .literal:
                    guard let first = reader.literal() else { return false }
                    self.take(key.text, first == UInt8(ascii: "t"))
                case .number where key.equals("max_payload"):
                    guard let count = reader.integer(), count > 0, count <= Int64(Int32.max) else { return false }
                    self.maximumPayload = Int(count)
                case .array where key.equals("connect_urls"):
                    return self.readAddresses(&reader)
                case .number, .array, .object: return reader.skipValue()
                case .invalid: return false
                }
                return true
            }
        }
        guard isWhole else { throw .malformed(operation: "INFO") }
    }

    /// What of an INFO in plain text still counts behind it once TLS has begun: an attacker on the path can have
    /// changed it. So the connection begins with what it needs, and learns of servers only from an encrypted INFO. A
    /// wrong limit or a wrong nonce only prevents what an attacker on the path can prevent anyway.
    var beforeTLS: ServerInformation {
        var info = self
        info.clusterAddresses = []
        info.isLeaving = false
        return info
    }

    private mutating func readAddresses(_ reader: inout JSONReader) -> Bool {
        self.clusterAddresses = []
        guard reader.take(UInt8(ascii: "[")) else { return false }
        if reader.take(UInt8(ascii: "]")) { return true }
        repeat {
            if reader.kind() == .string, self.clusterAddresses.count < Self.maximumAddresses {
                guard let text = reader.string() else { return false }
                self.clusterAddresses.append(text.text)
            } else {
                guard reader.skipValue() else { return false }
            }
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]"))
    }

    private mutating func take(_ key: String, _ value: String) {
        switch key {
        case "server_id": self.serverID = value
        case "server_name": self.serverName = value
        case "version": self.version = value
        case "nonce": self.nonce = value.isEmpty ? nil : value
        default: break
        }
    }

    private mutating func take(_ key: String, _ value: Bool) {
        switch key {
        case "headers": self.supportsHeaders = value
        case "jetstream": self.hasJetStream = value
        case "auth_required": self.requiresCredentials = value
        case "tls_required": self.requiresTLS = value
        case "tls_available": self.offersTLS = value
        case "ldm": self.isLeaving = value
        default: break
        }
    }
}
