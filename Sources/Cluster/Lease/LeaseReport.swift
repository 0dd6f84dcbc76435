import Market
import NIOCore

/// The reason for which a holder has closed the upstream and publishes nothing.
package enum LeaseFence: Error, Sendable, Equatable {
    /// The last proven renewal is too long ago: the store did not answer in time, or this program was stopped.
    case expired
    /// The key has another value.
    case lost(LeaseReport.Holder)
    /// This program was asked to stop.
    case stopping
}

extension LeaseFence: CustomStringConvertible {
    package var description: String {
        switch self {
        case .expired: "the lease was not renewed in time: the store did not answer, or this program stood still"
        case .lost(let holder): "the lease was lost: \(holder)"
        case .stopping: "the lease is given back"
        }
    }
}

/// What a machine says for people, each time that it changes.
package enum LeaseReport: Sendable, Equatable {
    /// What the key says.
    package enum Holder: Sendable, Equatable {
        /// The other program's revision is known, its value not yet.
        case another
        /// No program has held the lease, or the store has lost its data.
        case absent
        case deleted
        case program(name: String, host: String, since: String)
        case released(name: String, host: String)
        /// No program of this version wrote the value; its begin.
        case unreadable(String)
        /// No epoch is higher than this one, which only a person can have written.
        case lastEpoch(UInt64)
    }

    /// This program is a candidate.
    case waiting(Holder)
    /// This program has begun to take the lease from this one.
    case taking(Holder)
    case holding(epoch: UInt64)
    /// The store does not answer.
    case silent
    /// This program has ended its part; whether the release is known to have taken effect.
    case ended(isReleased: Bool)
}

extension LeaseReport.Holder {
    init(_ state: LeaseKeyState, _ claim: LeaseClaim?) {
        switch state {
        case .absent: self = .absent
        case .deleted: self = .deleted
        case .value(let bytes, _):
            guard let claim else {
                let text = String(decoding: bytes.readableBytesView.prefix(256), as: UTF8.self)
                self = .unreadable(PrintableText.line(text, limit: 60))
                return
            }
            let name = PrintableText.line(claim.holder, limit: 64)
            let host = PrintableText.line(claim.host, limit: 64)
            switch claim.state {
            case .held: self = .program(name: name, host: host, since: PrintableText.line(claim.since, limit: 32))
            case .released: self = .released(name: name, host: host)
            case .vacant: self = .absent
            }
        }
    }
}

extension LeaseReport.Holder: CustomStringConvertible {
    package var description: String {
        switch self {
        case .another: "another program has written to its key"
        case .absent: "its key had no value"
        case .deleted: "its key was deleted by hand, which no holder does"
        case .program(let name, let host, let since): "\(name) on \(host) holds it since \(since)"
        case .released(let name, let host): "\(name) on \(host) has given it back"
        case .unreadable(let text):
            "its key has a value of another program or version, which is overwritten if it does not change: "
                + "give that program another key, or delete the value (\(text))"
        case .lastEpoch(let epoch):
            "its key names the epoch \(epoch), and no higher one is left: stop all ingests, and delete the key"
        }
    }
}

extension LeaseReport: CustomStringConvertible {
    /// One line, with what to do where something can be done.
    package var description: String {
        switch self {
        case .waiting(let holder): "waiting for the lease: \(holder)"
        case .taking(let holder): "taking the lease: \(holder)"
        case .holding(let epoch): "holding the lease, epoch \(epoch)"
        case .silent: "waiting for the lease: the store does not answer; is it running, and may this user read the key?"
        case .ended(true): "the lease is given back"
        case .ended(false): "the lease is not given back: another program can take it when its time is over"
        }
    }
}
