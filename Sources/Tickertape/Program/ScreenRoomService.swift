import Feeds
import Logging
import NIOCore
import ServiceLifecycle
import Terminal
import Wire

/// The room that the screen has open, as a client of a relay like any other.
final class ScreenRoomService: ScreenRooms {
    /// The open room, which lives on the loop.
    private final class Open {
        var room: DisplayRoom
        let changed: (DisplayRoom) -> Void
        var connection: RoomConnection?

        init(_ name: String, changed: @escaping (DisplayRoom) -> Void) {
            self.room = DisplayRoom(name: name)
            self.changed = changed
        }

        func show() { self.changed(self.room) }
    }

    private struct State {
        var open: Open?
        /// Whether the program ends.
        var isStopped = false
    }

    private let settings: RoomConnection.Settings
    private let loop: any EventLoop
    private let logger: Logger
    private let state: NIOLoopBoundBox<State>

    init(_ settings: RoomConnection.Settings, loop: any EventLoop, logger: Logger) {
        self.settings = settings
        self.loop = loop
        self.logger = logger
        self.state = .makeBoxSendingValue(State(), eventLoop: loop)
    }

    func enter(_ name: String, changed: @escaping @Sendable (DisplayRoom) -> Void) {
        self.loop.execute {
            self.close()
            guard !self.state.value.isStopped else { return }
            let open = Open(name, changed: changed)
            self.state.value.open = open
            let connection = RoomConnection(
                name,
                self.settings,
                loop: self.loop,
                logger: self.logger,
                wallClock: WallClock.now
            ) { [weak open] event in
                if let open { self.take(event, in: open) }
            }
            open.connection = connection
            open.show()
            connection.start()
        }
    }

    func submit(_ request: RoomRequest, number: Int) {
        self.loop.execute {
            guard let open = self.state.value.open else { return }
            if open.room.submitted(request, number: number) { open.connection?.submit(request) }
            open.show()
        }
    }

    func leave() { self.loop.execute { self.close() } }

    /// The service that leaves the room at the end.
    var part: NamedService {
        NamedService("room") {
            try? await gracefulShutdown()
            try? await self.loop.flatSubmit {
                let connection = self.close()
                self.state.value.isStopped = true
                return connection?.finished ?? self.loop.makeSucceededVoidFuture()
            }.get()
        }
    }

    /// Leaves the open room; returns its connection, which ends within moments.
    @discardableResult
    private func close() -> RoomConnection? {
        let connection = self.state.value.open?.connection
        self.state.value.open = nil
        connection?.stop()
        return connection
    }

    private func take(_ event: RoomConnection.Event, in open: Open) {
        // A connection that was left may still deliver messages.
        guard open === self.state.value.open else { return }
        switch event {
        case .update(let update):
            if let request = open.room.take(update) { open.connection?.submit(request) }
        case .lost(let reason): open.room.lost(reason)
        }
        open.show()
    }
}
