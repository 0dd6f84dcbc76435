import Market
import NIOCore
import Wire

/// The figures of an edge about its part in the cluster, for people and programs.
struct EdgeFigures {
    private let box: ClusterStateBox
    private var losses = ClusterState.Losses()
    /// The newest frame that was put onto the tape.
    private var newest: ClusterPosition?

    init(_ box: ClusterStateBox) { self.box = box }

    /// Counts an action of the machine.
    mutating func count(_ action: EdgeMachine.Action) {
        switch action {
        case .askHistory: self.losses.requests += 1
        case .deliver(let frame): self.newest = frame.position
        case .begin(let position):
            if let newest, newest.epoch == position.epoch, newest.frame < position.frame {
                self.losses.frames += position.frame - newest.frame
            }
            self.newest = position
        case .gap: self.losses.gaps += 1
        case .askSnapshot, .state, .present, .silent, .unanswered: break
        }
    }

    /// Writes the present figures.
    ///
    /// - Parameters:
    ///   - ingest: the ingest's name, and how far its clock is ahead, ns; `nil` while none is known.
    ///   - complete: up to when nothing is missing on the tape, monotonic, ns; `nil` while no other program is followed.
    func write(_ machine: EdgeMachine, ingest: (member: String, ahead: Int64)?, complete: Int64?) {
        self.box.change { state in
            state.followed = machine.isPresent ? ingest?.member : nil
            state.clockOffset = ingest?.ahead
            state.position = machine.position
            state.complete = machine.position == nil ? nil : complete
            state.losses = self.losses
            state.losses.refused = machine.refused
        }
    }
}
