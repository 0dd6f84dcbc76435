package import Ingest
package import Market
package import NIOCore
import WebSocket
package import Wire

/// The settings of a ``FeedClient`` and of its connection, of whatever service.
///
/// The members of ``FeedSettings`` are available as if they were properties of this type.
@dynamicMemberLookup
package struct ClientSettings: Sendable {
    /// What a person can choose.
    package var options: FeedSettings
    package var dial: DialSettings
    /// The source of the trades, as every status names it.
    package var source: FeedStatus.Source = .live
    /// A remark for people that belongs to every status of an open connection.
    package var note: String?
    /// The marks between the frames of a replay; `nil` for a live feed.
    package var marks: FrameMarks?
    /// The lock of a key and the state that is kept across a restart. A replay has neither.
    package var holding = KeyHolding.none
    /// Whether the upstream may be used, for a program that shares it with other ones of a cluster; `nil` for always.
    package var permission: NIOLoopBound<any UpstreamPermission>?
    /// Called on the feed's loop at the end of every TLS handshake with the upstream.
    package var handshakeEnded: (@Sendable (UpstreamHandshake) -> Void)?

    package init(options: FeedSettings, dial: DialSettings = DialSettings()) {
        self.options = options
        self.dial = dial
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<FeedSettings, Value>) -> Value {
        get { self.options[keyPath: path] }
        set { self.options[keyPath: path] = newValue }
    }
}

extension ClientSettings {
    /// Whether the trades come live from the market and not from a replay.
    var isLive: Bool { self.source == .live }

    /// Whether what the upstream has sent may be read now (``UpstreamPermission``).
    var isAllowed: Bool { self.permission?.value.isAllowed ?? true }

    /// Whether steps are taken for quiet symbols. In a replay a new subscription brings no more than the recording
    /// holds.
    var takesSteps: Bool { self.isLive && self.watch.takesSteps }

    /// Whether the upstream's certificate is checked. A connection without TLS has none, and leads to this machine
    /// only.
    package var certificateIsChecked: Bool {
        guard self.upstream.isEncrypted, case .disabled = self.dial.tls.verification else { return true }
        return false
    }

    /// The handling of repeats of a service without trade ids. The tape of a replay keeps whatever the recording
    /// holds.
    package var repeats: RepeatHandling {
        guard self.isLive else { return .ignored }
        return self.dropsRepeats ? .leftOut : .marked
    }

    /// The settings of the connector to an address, with its path as the request target.
    func connector(to address: UpstreamAddress) -> ConnectorSettings {
        var settings = ConnectorSettings(
            address: address,
            target: address.path,
            dial: self.dial,
            webSocket: self.webSocket
        )
        settings.handshakeEnded = self.handshakeEnded
        return settings
    }
}
