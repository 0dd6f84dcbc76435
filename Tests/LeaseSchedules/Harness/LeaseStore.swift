import Cluster
import NIOCore

/// A key-value store with one key for each lease, which does one operation at a time.
struct LeaseStore {
    enum Operation {
        case read
        case write(ByteBuffer, expecting: UInt64)
    }

    private var states: [LeaseKeyState]
    private var firstRevision: UInt64 = 1
    /// Of all keys together.
    private var lastRevision: UInt64 = 0
    /// The newest states, for their loss.
    private var earlier: [[LeaseKeyState]] = []
    var downUntil: Int64 = .min

    init(leases: Int) { self.states = Array(repeating: .absent, count: leases) }

    mutating func apply(_ operation: Operation, _ lease: Int) -> LeaseAnswer {
        switch operation {
        case .read: return .state(self.states[lease])
        case .write(let value, let expected):
            guard expected == self.states[lease].revision else { return .refused }
            self.put(value, lease)
            return .written(revision: self.lastRevision)
        }
    }

    /// Writes without an expectation.
    mutating func put(_ value: ByteBuffer, _ lease: Int) {
        self.keep()
        self.states[lease] = .value(value, revision: self.lastRevision)
    }

    mutating func delete(_ lease: Int) {
        self.keep()
        self.states[lease] = .deleted(revision: self.lastRevision)
    }

    private mutating func keep() {
        self.lastRevision += 1
        if self.earlier.count == 32 { self.earlier.removeFirst(16) }
        self.earlier.append(self.states)
    }

    /// Begins with nothing, also after a loss.
    mutating func begin(firstRevision: UInt64) {
        self.earlier = []
        self.firstRevision = firstRevision
        self.lastRevision = firstRevision - 1
        self.states = Array(repeating: .absent, count: self.states.count)
    }

    /// Loses the last writes; their revisions come again.
    mutating func lose(last writes: Int) {
        guard writes > 0, let states = self.earlier.dropLast(writes - 1).last else {
            return self.begin(firstRevision: self.firstRevision)
        }
        self.earlier.removeLast(writes)
        self.lastRevision -= UInt64(writes)
        self.states = states
    }
}
