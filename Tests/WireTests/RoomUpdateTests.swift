import NIOCore
import Testing
@testable import Wire

@Suite("What a relay tells a client of a room")
struct RoomUpdateTests {
    private static func read(_ text: String) -> RoomUpdate? { RoomUpdate(ByteBuffer(string: text), of: "r") }

    @Test("every message of the protocol is read, and keys that are unknown are ignored")
    func messages() {
        let message = RoomMessage(room: "r", id: 2, time: 1_000_000, user: "ann", userID: 3, text: "hi \"ü\"")
        let json = #"{"id":2,"time":1,"user":"ann","userId":3,"message":"hi \"ü\"","x":[{}]}"#
        let room =
            #"{"type":"room","room":"r","users":[{"user":"ann","userId":3},{},7],"messages":[\#(json)],"#
            + #""limits":{"a":1}}"#
        #expect(Self.read(room) == .room(users: [RoomUser(name: "ann", id: 3)], messages: [message]))
        #expect(Self.read(#"{"type":"message",\#(json.dropFirst())"#) == .message(message))
        let ann = RoomUser(name: "ann", id: 3)
        #expect(Self.read(#"{"type":"joined","time":1,"user":"ann","userId":3}"#) == .joined(ann, time: 1_000_000))
        #expect(Self.read(#"{"type":"left","time":1,"user":"ann","userId":3}"#) == .left(ann, time: 1_000_000))
        #expect(Self.read(#"{"type":"error","msg":"no","code":"no-user"}"#) == .error("no", code: "no-user"))
        #expect(Self.read(#"{"type":"room","users":[],"messages":[]}"#) == .room(users: [], messages: []))
    }

    @Test(
        "anything else is nothing",
        arguments: [
            "", "[]", #"{"type":"topic"}"#, #"{"users":[]}"#, #"{"type":"message","id":1,"time":1,"user":"a"}"#,
            #"{"type":"joined","time":-1,"user":"a","userId":1}"#,
            #"{"type":"joined","time":9223372036854775807,"user":"a","userId":1}"#,
            #"{"type":"left","time":1,"user":"a","userId":-1}"#, #"{"type":"left","time":1,"user":"a","userId":1.5}"#,
            #"{"type":"room","users":["#,
        ]
    )
    func others(text: String) {
        #expect(Self.read(text) == nil)
    }

    @Test("lists of another kind are empty, and endless ones are cut")
    func lists() {
        #expect(Self.read(#"{"type":"room","users":7,"messages":{"a":[]}}"#) == .room(users: [], messages: []))
        let users = (0..<5_000).map { #"{"user":"u","userId":\#($0)}"# }.joined(separator: ",")
        guard case .room(let read, _) = Self.read(#"{"type":"room","users":[\#(users)],"messages":[]}"#) else {
            Issue.record("the room is not read")
            return
        }
        #expect(read.count == 4_096)
    }

    @Test("a name and a message are submitted as objects of one member")
    func requests() {
        #expect(String(buffer: RoomRequest.name("a\"b").encoded()) == #"{"user":"a\"b"}"#)
        #expect(String(buffer: RoomRequest.message("hi").encoded()) == #"{"message":"hi"}"#)
    }
}
