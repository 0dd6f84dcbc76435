import GRDB
package import Wire

/// The newest messages of rooms in the history.
extension HistoryStore {
    /// The messages that were read.
    package struct RoomMessages: Sendable, Equatable {
        /// Those of a room in order; the room whose message was written last comes last.
        package var messages: [RoomMessage] = []
        /// The number of messages and rooms that cannot be read.
        package var unreadable = 0

        package init() {}
    }

    /// Writes messages, and removes those that are more than are kept, and the rooms that were given up.
    ///
    /// After a loss of messages their numbers may come again, so earlier ones from a new one's number on are removed.
    static func put(_ records: [RoomRecord], in database: Database) throws {
        let insert = try database.cachedStatement(
            sql: "INSERT INTO roomMessage (room, id, time, user, userId, message) VALUES (?, ?, ?, ?, ?, ?)"
        )
        var rooms = try Self.rooms(in: database)
        // The newest number of each room among these messages.
        var newest: [Int64: Int64] = [:]
        // Rooms are ordered by what was written last. The times may go back, as the wall clock may.
        var last = try Row.fetchOne(database, sql: "SELECT max(newest) FROM room")?.value(0).integer ?? 0
        for record in records {
            guard case .message(let message) = record else {
                if case .givenUp(let name) = record, let room = rooms.removeValue(forKey: name) {
                    newest[room] = nil
                    try database.execute(sql: "DELETE FROM roomMessage WHERE room = ?", arguments: [room])
                    try database.execute(sql: "DELETE FROM room WHERE id = ?", arguments: [room])
                }
                continue
            }
            let room = try rooms[message.room] ?? Self.add(room: message.room, in: database)
            rooms[message.room] = room
            let id = Int64(clamping: message.id)
            if id <= newest[room] ?? .max {
                try database.execute(
                    sql: "DELETE FROM roomMessage WHERE room = ? AND id >= ?",
                    arguments: [room, id]
                )
            }
            newest[room] = id
            try insert.execute(arguments: [
                room, id, message.time, message.user, Int64(clamping: message.userID), message.text,
            ])
            // The file may hold any number.
            last &+= 1
            try database.execute(sql: "UPDATE room SET newest = ? WHERE id = ?", arguments: [last, room])
        }
        for room in newest.keys {
            try database.execute(
                sql: """
                    DELETE FROM roomMessage WHERE room = :room AND id <= (
                        SELECT id FROM roomMessage WHERE room = :room ORDER BY id DESC LIMIT 1 OFFSET :kept
                    )
                    """,
                arguments: ["room": room, "kept": RoomMessage.keptMessages]
            )
        }
    }

    /// Returns the numbers of the rooms by their names, which are compared as the relay does, not by their bytes.
    ///
    /// Not optimised; see ``GRDB/Row/value(_:)``.
    @_optimize(none)
    private static func rooms(in database: Database) throws -> [String: Int64] {
        var rooms: [String: Int64] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT id, name FROM room") {
            if let id = row.value(0).integer, let name = row.value(1).text { rooms[name] = id }
        }
        return rooms
    }

    private static func add(room name: String, in database: Database) throws -> Int64 {
        try database.execute(sql: "INSERT INTO room (name, newest) VALUES (?, 0)", arguments: [name])
        return database.lastInsertedRowID
    }

    /// Returns the newest messages of the rooms. A file may hold more rooms than the relay does; those in which a message
    /// was written last are read.
    package func roomMessages() throws(HistoryFailure) -> RoomMessages {
        do {
            return try self.pool.read { database in
                var read = RoomMessages()
                let rooms = try Row.fetchAll(
                    database,
                    sql: "SELECT id, name FROM room ORDER BY newest DESC, id DESC LIMIT \(RoomMessage.keptRooms)"
                )
                for room in rooms.reversed() {
                    guard let id = room.value(0).integer, let name = room.value(1).text else {
                        read.unreadable += 1
                        continue
                    }
                    let rows = try Row.fetchAll(
                        database,
                        sql: """
                            SELECT id, time, user, userId, message FROM roomMessage
                            WHERE room = ? ORDER BY id DESC LIMIT \(RoomMessage.keptMessages)
                            """,
                        arguments: [id]
                    )
                    for row in rows.reversed() {
                        if let message = Self.message(row, room: name) {
                            read.messages.append(message)
                        } else {
                            read.unreadable += 1
                        }
                    }
                }
                return read
            }
        } catch {
            throw HistoryFailure(error)
        }
    }

    // Not optimised; see `Row.value`.
    @_optimize(none)
    private static func message(_ row: Row, room: String) -> RoomMessage? {
        guard let id = row.value(0).integer.flatMap({ UInt64(exactly: $0) }), let time = row.value(1).integer,
            let user = row.value(2).text, let userID = row.value(3).integer.flatMap({ UInt64(exactly: $0) }),
            let text = row.value(4).text
        else { return nil }
        return RoomMessage(room: room, id: id, time: time, user: user, userID: userID, text: text)
    }
}
