import HTTP
import NIOCore
import NIOEmbedded
import WebSocket
import Wire
@testable import Relay

extension HubBench {
    /// Makes a hub with rooms, and every protocol that has them.
    static func rooms(_ change: (inout RelaySettings) -> Void = { _ in }) -> HubBench {
        HubBench { settings in
            settings.rooms = true
            settings.wamp = true
            settings.lines = Endpoint(host: "127.0.0.1", port: 0)
            settings.keepQuiet()
            change(&settings)
        }
    }

    /// Gives the lobby as many long messages as a room keeps.
    func fillLobby() {
        let text = String(repeating: "x", count: RoomLimits.messageBytes)
        let messages = (1...UInt64(RoomLimits.messages)).map { RoomMessage($0, text) }
        self.hub.rooms.begin(with: EarlierRooms(messages)) { _ in }
    }

    /// Adds a client of a room.
    func roomClient(_ room: String = "lobby") throws -> HubClient {
        HubClient(channel: try self.join(RoomClient(room: room, context: self.hub.context)))
    }

    /// Adds a client of a room with its whole WebSocket.
    func pipedRoom(_ room: String = "lobby") throws -> PipedClient {
        let channel = EmbeddedChannel(loop: self.loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let session = RoomClient(room: room, context: self.hub.context)
        let piped = try PipedClient(channel: channel, client: session, deadlines: self.hub.deadlines)
        self.keep(channel)
        return piped
    }
}

extension HubClient {
    /// Returns the messages that came since the last call, without their times.
    func takeTimeless() throws -> [String] {
        self.channel.embeddedEventLoop.run()
        return try self.takeTexts().map(\.withoutTimes)
    }

    /// Sends a message, and returns what came since the last call, without times.
    func ask(_ text: String) throws -> [String] {
        try self.send(text)
        return try self.takeTimeless()
    }
}

extension String {
    /// The JSON without the members `time`.
    var withoutTimes: String {
        var parts = self.split(separator: #""time":"#, omittingEmptySubsequences: false)
        for index in parts.indices.dropFirst() {
            parts[index] = parts[index].drop { $0.isNumber }.dropFirst()
        }
        return parts.joined()
    }
}

extension RoomMessage {
    /// Makes a message for tests.
    init(_ id: UInt64, _ text: String, room: String = "lobby", user: String = "ann", userID: UInt64 = 1) {
        let time: Int64 = 1_723_161_255_342_000_000
        self.init(room: room, id: id, time: time, user: user, userID: userID, text: text)
    }
}
