import Glibc
import NIOCore

/// A compact table of the client sockets to which bytes may be sent directly: the fast path of the fan-out.
///
/// A client's own state machines lie in a dozen places of memory. Asking them for every message whether anything waits
/// costs more than the rest of the work on it, so each client keeps its slot up to date instead. It **opens** the slot
/// when nothing waits for it. Any write that must precede later trades **closes** the slot. Bytes sent through an open
/// slot are not recorded by the client. If a slot is closed or takes only a part, the caller learns so and the client
/// queues the rest. Owned by the relay's loop.
final class DirectSlots {
    /// A client's index in the table, until it is given back.
    typealias Slot = Int32

    /// The slot of clients without one; it is never open.
    static let none: Slot = 0

    private static let closed: CInt = -1
    /// A closed peer is an error of the call, never a signal, and the call does not block.
    private static let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)

    /// The socket of each open slot; ``closed`` for the others.
    private var descriptors: UnsafeMutablePointer<CInt>
    private var capacity = 64
    /// All slots in use are below this.
    private var end: Slot = 1
    private var free: [Slot] = []

    init() {
        self.descriptors = .allocate(capacity: self.capacity)
        self.descriptors.initialize(repeating: Self.closed, count: self.capacity)
    }

    deinit { self.descriptors.deallocate() }

    /// Returns a new slot, which is closed.
    func make() -> Slot {
        if let slot = self.free.popLast() { return slot }
        if Int(self.end) == self.capacity {
            let larger = UnsafeMutablePointer<CInt>.allocate(capacity: self.capacity * 2)
            larger.moveInitialize(from: self.descriptors, count: self.capacity)
            (larger + self.capacity).initialize(repeating: Self.closed, count: self.capacity)
            self.descriptors.deallocate()
            self.descriptors = larger
            self.capacity *= 2
        }
        self.end += 1
        return self.end - 1
    }

    /// Closes a slot and makes it available again.
    func giveBack(_ slot: Slot) {
        guard slot != Self.none else { return }
        self.close(slot)
        self.free.append(slot)
    }

    /// Allows direct sends to a client for whom nothing waits.
    func open(_ slot: Slot, to descriptor: CInt) {
        precondition(slot > 0 && slot < self.end, "slot \(slot) of \(self.end)")
        self.descriptors[Int(slot)] = descriptor
    }

    /// Ends direct sends to a client: bytes wait for it, or it is gone.
    func close(_ slot: Slot) {
        precondition(slot >= 0 && slot < self.end, "slot \(slot) of \(self.end)")
        self.descriptors[Int(slot)] = Self.closed
    }

    func isOpen(_ slot: Slot) -> Bool { self.descriptors[Int(slot)] != Self.closed }

    /// Sends the same bytes to many clients, with one system call each.
    ///
    /// - Parameters:
    ///   - slots: the clients' slots, each from ``make()``.
    ///   - left: called with the index of each slot that did not take all bytes, and how many bytes it took. That slot
    ///     is closed now.
    func send(_ bytes: ByteBuffer, over slots: [Slot], left: (_ index: Int, _ sent: Int) -> Void) {
        bytes.withUnsafeReadableBytes { bytes in
            for index in slots.indices {
                let slot = Int(slots[index])
                let descriptor = self.descriptors[slot]
                guard descriptor != Self.closed else {
                    left(index, 0)
                    continue
                }
                let sent = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Self.flags)
                guard sent < bytes.count else { continue }
                self.descriptors[slot] = Self.closed
                left(index, max(0, sent))
            }
        }
    }
}
