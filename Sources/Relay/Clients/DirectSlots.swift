import Glibc
import NIOCore

/// The sockets of all clients to which bytes may go straight, in one compact table: the short way of the fan-out.
///
/// A client's own machines lie in a dozen places of memory. To ask them with every message whether anything waits costs
/// more than the rest of our work on it, so they say beforehand: a client **opens** its lane when nothing waits for it, and
/// whoever puts something in front of what comes next **closes** it. What goes by an open lane leaves no trace with the
/// client, for it is gone; what a lane does not take is told, and the client takes it from there. Owned by the relay's loop.
final class DirectSlots {
    /// A client's place in the table, until it is given back.
    typealias Slot = Int32

    /// A lane that is never open, for whoever has none.
    static let none: Slot = 0

    private static let closed: CInt = -1
    /// A peer that has gone is an error of the call, never a signal; and nobody is waited for.
    private static let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)

    /// By lane the socket, while the lane is open.
    private var descriptors: UnsafeMutablePointer<CInt>
    private var capacity = 64
    /// The lanes that have been given out are below it.
    private var end: Slot = 1
    private var free: [Slot] = []

    init() {
        self.descriptors = .allocate(capacity: self.capacity)
        self.descriptors.initialize(repeating: Self.closed, count: self.capacity)
    }

    deinit { self.descriptors.deallocate() }

    /// Gives out a lane, which is closed.
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

    /// Takes a lane back.
    func giveBack(_ slot: Slot) {
        guard slot != Self.none else { return }
        self.close(slot)
        self.free.append(slot)
    }

    /// Lets bytes go to a client by its lane from now on: nothing waits for it.
    func open(_ slot: Slot, to descriptor: CInt) {
        precondition(slot > 0 && slot < self.end, "lane \(slot) of \(self.end)")
        self.descriptors[Int(slot)] = descriptor
    }

    /// Lets no more bytes go by a lane: something stands in front, or the client is gone.
    func close(_ slot: Slot) {
        precondition(slot >= 0 && slot < self.end, "lane \(slot) of \(self.end)")
        self.descriptors[Int(slot)] = Self.closed
    }

    func isOpen(_ slot: Slot) -> Bool { self.descriptors[Int(slot)] != Self.closed }

    /// Sends the same bytes to many clients, one call of the system each.
    ///
    /// - Parameters:
    ///   - lanes: the clients' lanes, each given out here.
    ///   - left: gets the index of each lane that did not take all of the bytes and is closed now, and how many it took.
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
