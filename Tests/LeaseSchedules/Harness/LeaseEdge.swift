import Feeds
import NIOCore
import Wire

/// An edge of a schedule: the program's own machine, and what the rules say of it.
struct LeaseEdge {
    var machine = EdgeMachine()
    var timerVersion = 0
    /// The connections to NATS; a message of an earlier one is lost.
    var connection = 0
    var isConnected = false
    /// Until when all messages are lost.
    var deafUntil: Int64 = .min
    /// The highest epoch that has come with a frame, with a heartbeat or onto the tape.
    var heard: UInt64 = 0
    /// The newest frame on the tape.
    var delivered: ClusterPosition?
    /// Where the tape goes on; `nil` behind that frame.
    var start: ClusterPosition?
    /// When a message of that epoch came for the last time.
    var newest: Int64 = .min
}

/// What an ingest of a schedule sends, and what an edge asks it for.
enum LeaseMessage {
    case frame(ClusterFrame)
    case beat(ClusterBeat)
    case snapshot(ClusterSnapshot, request: UInt64)
    case history(ClusterHistoryAnswer, request: UInt64)

    /// `nil` for an answer, which an edge does not read if the request is over.
    var epoch: UInt64? {
        switch self {
        case .frame(let frame): frame.position.epoch
        case .beat(let beat): beat.position.epoch
        case .snapshot, .history: nil
        }
    }
}

enum LeaseRequest {
    case snapshot(ClusterSnapshotRequest, number: UInt64)
    case history(ClusterPosition, number: UInt64)
}
