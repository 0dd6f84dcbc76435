package import NIOCore
import Wire

/// The value of a lease's key: who holds it.
package struct LeaseClaim: Sendable, Equatable {
    package enum State: String, Sendable {
        /// The holder runs, or did so when it wrote this.
        case held
        /// The holder has fenced itself and given the lease back.
        case released
        /// A candidate found no value. It does not run: the value is what the candidates watch.
        case vacant
    }

    /// The largest value that is read, in bytes.
    package static let maximumBytes = 4_096

    package var state: State
    /// The name of the program that wrote this, among those that share the lease.
    package var holder: String
    /// The machine's name, for people.
    package var host: String
    /// Unique to the write of this value, so that a revision that another value had before is not taken for it.
    package var token: String
    package var epoch: UInt64
    /// When this holder has taken the lease, by its own wall clock, for people (RFC 3339).
    package var since: String

    package init(_ state: State, holder: String, host: String, token: String, epoch: UInt64, since: String) {
        self.state = state
        self.holder = holder
        self.host = host
        self.token = token
        self.epoch = epoch
        self.since = since
    }

    /// The value: one line of JSON, without a line feed.
    package var json: ByteBuffer {
        JSONWriter.object { out in
            out.field("lease", Self.version)
            out.field("state", self.state.rawValue)
            out.field("holder", self.holder)
            out.field("host", self.host)
            out.field("since", self.since)
            out.field("epoch", self.epoch)
            out.field("token", self.token)
        }
    }

    private static let version = 1

    /// Reads a value; `nil` for one that no program of this version wrote. Other members are ignored.
    package init?(_ value: ByteBuffer) {
        guard value.readableBytes <= Self.maximumBytes else { return nil }
        var version: Int64?
        var state: String?
        var holder: String?
        var host: String?
        var since: String?
        var token: String?
        var epoch: Int64?
        let isObject = value.withUnsafeReadableBytes { bytes in
            JSONReader.wholeObject(bytes) { key, reader in
                switch reader.kind() {
                case .string:
                    guard let text = reader.string() else { return false }
                    if key.equals("state") { state = text.text }
                    if key.equals("holder") { holder = text.text }
                    if key.equals("host") { host = text.text }
                    if key.equals("since") { since = text.text }
                    if key.equals("token") { token = text.text }
                    return true
                case .number:
                    let isVersion = key.equals("lease")
                    guard isVersion || key.equals("epoch") else { return reader.skipValue() }
                    guard let number = reader.integer() else { return false }
                    if isVersion { version = number } else { epoch = number }
                    return true
                case .object, .array, .literal, .invalid: return reader.skipValue()
                }
            }
        }
        guard isObject, version == Int64(Self.version), let state = state.flatMap(State.init), let holder, let host,
            let since, let token, !token.isEmpty, let epoch = epoch.flatMap({ UInt64(exactly: $0) }),
            epoch <= ClusterPosition.maximumEpoch
        else { return nil }
        self.init(state, holder: holder, host: host, token: token, epoch: epoch, since: since)
    }
}
