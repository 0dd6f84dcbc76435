import Cluster
import NIOCore

/// A key-value store with one key, which does one operation at a time.
struct LeaseStore {
    enum Operation {
        case read
        case write(ByteBuffer, expecting: UInt64)
    }

    private(set) var state = LeaseKeyState.absent
    private var lastRevision: UInt64 = 0
    /// The newest states, for their loss.
    private var earlier: [LeaseKeyState] = []
    var downUntil: Int64 = .min

    mutating func apply(_ operation: Operation) -> LeaseAnswer {
        switch operation {
        case .read: return .state(self.state)
        case .write(let value, let expected):
            guard expected == self.state.revision else { return .refused }
            self.put(value)
            return .written(revision: self.lastRevision)
        }
    }

    /// Writes without an expectation.
    mutating func put(_ value: ByteBuffer) {
        self.keep()
        self.state = .value(value, revision: self.lastRevision)
    }

    mutating func delete() {
        self.keep()
        self.state = .deleted(revision: self.lastRevision)
    }

    private mutating func keep() {
        self.lastRevision += 1
        if self.earlier.count == 32 { self.earlier.removeFirst(16) }
        self.earlier.append(self.state)
    }

    /// Loses all; the revisions begin anew.
    mutating func lose() {
        self.earlier = []
        self.lastRevision = 0
        self.state = .absent
    }

    /// Loses the last writes; their revisions come again.
    mutating func lose(last writes: Int) {
        guard writes > 0, let state = self.earlier.dropLast(writes - 1).last else { return self.lose() }
        self.earlier.removeLast(writes)
        self.lastRevision = state.revision
        self.state = state
    }
}
