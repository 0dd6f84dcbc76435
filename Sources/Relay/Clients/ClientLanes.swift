import Glibc
import NIOCore

/// The sockets of all clients to which bytes may go straight, in one compact table: the short way of the fan-out.
///
/// A client's own machines lie in a dozen places of memory. To ask them with every message whether anything waits costs
/// more than the rest of our work on it, so they say beforehand: a client **opens** its lane when nothing waits for it, and
/// whoever puts something in front of what comes next **closes** it. What goes by an open lane leaves no trace with the
/// client, for it is gone; what a lane does not take is told, and the client takes it from there. Owned by the relay's loop.
final class ClientLanes {
    /// A client's place in the table, until it is given back.
    typealias Lane = Int32

    /// A lane that is never open, for whoever has none.
    static let none: Lane = 0

    private static let closed: CInt = -1
    /// A peer that has gone is an error of the call, never a signal; and nobody is waited for.
    private static let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)

    /// By lane the socket, while the lane is open.
    private var descriptors: UnsafeMutablePointer<CInt>
    private var capacity = 64
    /// The lanes that have been given out are below it.
    private var end: Lane = 1
    private var free: [Lane] = []

    init() {
        self.descriptors = .allocate(capacity: self.capacity)
        self.descriptors.initialize(repeating: Self.closed, count: self.capacity)
    }

    deinit { self.descriptors.deallocate() }

    /// Gives out a lane, which is closed.
    func make() -> Lane {
        if let lane = self.free.popLast() { return lane }
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
    func giveBack(_ lane: Lane) {
        guard lane != Self.none else { return }
        self.close(lane)
        self.free.append(lane)
    }

    /// Lets bytes go to a client by its lane from now on: nothing waits for it.
    func open(_ lane: Lane, to descriptor: CInt) {
        precondition(lane > 0 && lane < self.end, "lane \(lane) of \(self.end)")
        self.descriptors[Int(lane)] = descriptor
    }

    /// Lets no more bytes go by a lane: something stands in front, or the client is gone.
    func close(_ lane: Lane) {
        precondition(lane >= 0 && lane < self.end, "lane \(lane) of \(self.end)")
        self.descriptors[Int(lane)] = Self.closed
    }

    func isOpen(_ lane: Lane) -> Bool { self.descriptors[Int(lane)] != Self.closed }

    /// Sends the same bytes to many clients, one call of the system each.
    ///
    /// - Parameters:
    ///   - lanes: the clients' lanes, each given out here.
    ///   - left: gets the index of each lane that did not take all of the bytes and is closed now, and how many it took.
    func send(_ bytes: ByteBuffer, over lanes: [Lane], left: (_ index: Int, _ sent: Int) -> Void) {
        bytes.withUnsafeReadableBytes { bytes in
            for index in lanes.indices {
                let lane = Int(lanes[index])
                let descriptor = self.descriptors[lane]
                guard descriptor != Self.closed else {
                    left(index, 0)
                    continue
                }
                let sent = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Self.flags)
                guard sent < bytes.count else { continue }
                self.descriptors[lane] = Self.closed
                left(index, max(0, sent))
            }
        }
    }
}
