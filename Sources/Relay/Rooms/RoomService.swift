import NIOCore
import Wire

/// The rooms of a relay with the sessions in them, whatever their protocol. It lives on the relay's loop.
final class RoomService {
    /// An event, and the sessions that were in the room when it happened.
    private struct Delivery {
        let event: RoomEvent
        let room: String
        let message: SharedMessage
        let recipients: [any RoomMember]
    }

    private let loop: any EventLoop
    private let outputs: OutputScheduler
    private let numbers: MessageNumbers
    /// Ns since 1970.
    private let wallClock: @Sendable () -> Int64
    private var rooms = Rooms()
    /// The sessions that are in any room.
    private var members: [Room.Member: any RoomMember] = [:]
    /// Takes what is to be kept over a restart.
    private var keep: @Sendable (RoomRecord) -> Void = { _ in }
    /// The events that are still to be delivered. A delivery may end a session, which causes others.
    private var deliveries: [Delivery] = []
    private var isDelivering = false
    private var isFlushDue = false
    private var isStopped = false

    init(
        loop: any EventLoop,
        outputs: OutputScheduler,
        numbers: MessageNumbers,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.loop = loop
        self.outputs = outputs
        self.numbers = numbers
        self.wallClock = wallClock
    }

    /// Begins with the rooms of earlier runs, before any session is in a room.
    ///
    /// - Parameter keep: takes each new message and each room that is given up, and does not wait.
    func begin(with earlier: EarlierRooms, keep: @escaping @Sendable (RoomRecord) -> Void) {
        self.rooms = earlier.rooms
        self.keep = keep
        self.keepGivenUp()
    }

    /// Reports no further events: the relay ends, and all members leave.
    func stop() { self.isStopped = true }

    // MARK: Members

    /// Returns a room as it is now; one that does not exist is empty.
    func state(of room: String) -> RoomState { self.rooms.state(of: room) }

    /// Returns a room's state as JSON.
    func encodedState(of room: String) -> ByteBuffer { self.rooms.encodedState(of: room) }

    /// Returns what the answer with a room's state costs, in requests.
    func cost(of room: String) -> Int { self.rooms.size(of: room) / WAMPLimits.bytesPerRequest }

    /// Adds a session to a room. A session that is in it stays in it.
    func enter(_ room: String, _ member: any RoomMember) throws(RoomFault) {
        // A session that has ended has left its rooms for good.
        guard member.isOpen else { return }
        let id = ObjectIdentifier(member)
        try self.rooms.enter(id, room)
        self.members[id] = member
        self.keepGivenUp()
    }

    /// Moves a session out of a room to another one.
    ///
    /// - Throws: ``RoomFault``; the session stays where it was then.
    func move(_ member: any RoomMember, from old: String?, to room: String) throws(RoomFault) {
        guard member.isOpen else { return }
        let id = ObjectIdentifier(member)
        let user = try self.rooms.move(id, from: old, to: room)
        self.members[id] = member
        self.keepGivenUp()
        if let old, let user { _ = self.publish([.left(user, time: self.wallClock())], in: old) }
    }

    /// Removes a session from a room.
    func leave(_ room: String, _ member: any RoomMember) {
        let id = ObjectIdentifier(member)
        let user = self.rooms.leave(id, room)
        if self.rooms.rooms(of: id).isEmpty { self.members[id] = nil }
        if let user { _ = self.publish([.left(user, time: self.wallClock())], in: room) }
    }

    /// Removes a session from all its rooms, since it has ended.
    func leaveAll(_ member: any RoomMember) {
        for room in self.rooms.rooms(of: ObjectIdentifier(member)) { self.leave(room, member) }
    }

    // MARK: Events

    /// Takes what a session submits to a room, which it enters with it.
    ///
    /// - Returns: the number of the last message that reports it; `nil` if it changes nothing.
    /// - Throws: ``RoomFault``, to be reported to this session alone. Then it is not in the room unless it was before.
    func submit(
        _ submission: RoomSubmission,
        by member: any RoomMember,
        in room: String
    ) throws(RoomFault) -> UInt64? {
        // As with ``enter(_:_:)``.
        guard member.isOpen else { return nil }
        let (id, now) = (ObjectIdentifier(member), self.loop.now)
        guard member.roomRate.isWithin(now: now) else { throw .tooFast }
        let events = try self.rooms.submit(submission, by: id, in: room, time: self.wallClock(), now: now)
        self.members[id] = member
        self.keepGivenUp()
        for case .message(let message) in events { self.keep(.message(message)) }
        return self.publish(events, in: room)
    }

    /// Reports the rooms that have made place for others.
    private func keepGivenUp() {
        for name in self.rooms.takeGivenUp() { self.keep(.givenUp(name)) }
    }

    /// Delivers events to all members of a room, after those before them.
    private func publish(_ events: [RoomEvent], in room: String) -> UInt64? {
        guard !self.isStopped, !events.isEmpty else { return nil }
        let recipients = self.rooms.members(of: room).compactMap { self.members[$0] }
        var number: UInt64?
        for event in events {
            let message = SharedMessage(number: self.numbers.next())
            number = message.number
            self.deliveries.append(Delivery(event: event, room: room, message: message, recipients: recipients))
        }
        self.deliver()
        return number
    }

    private func deliver() {
        guard !self.isDelivering else { return }
        self.isDelivering = true
        var done = 0
        while done < self.deliveries.count {
            let next = self.deliveries[done]
            for member in next.recipients where member.isOpen {
                member.roomChanged(next.event, in: next.room, next.message)
            }
            done += 1
        }
        self.deliveries = []
        self.isDelivering = false
        self.flushLater()
    }

    /// Flushes in a later turn, since a session may end in the middle of any other write.
    private func flushLater() {
        guard !self.isFlushDue else { return }
        self.isFlushDue = true
        self.loop.assumeIsolated().execute {
            self.isFlushDue = false
            self.outputs.flush()
        }
    }
}
