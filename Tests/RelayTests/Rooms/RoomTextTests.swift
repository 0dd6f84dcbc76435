import NIOCore
import Testing
@testable import Relay

@Suite("Rooms: names and messages")
struct RoomTextTests {
    private func kind(of body: () throws(RoomFault) -> RoomSubmission) -> RoomFault.Kind? {
        do throws(RoomFault) {
            _ = try body()
            return nil
        } catch {
            return error.kind
        }
    }

    @Test(
        "a user's name is printable, has no blanks at its ends or side by side, no separators and at most 40 bytes",
        arguments: [
            ("ann", nil), ("Ann Lee", nil), ("ñandú", nil), ("李", nil), ("🙂", nil), ("a.b: c", nil),
            (String(repeating: "x", count: 40), nil), ("", .badUser), (" ", .badUser), (" ann", .badUser),
            ("ann ", .badUser), ("a\nb", .badUser), ("a\u{1B}[31m", .badUser), ("a\u{202E}b", .badUser),
            ("a\u{200B}b", .badUser), ("a\u{200D}b", .badUser), ("a\u{00A0}b", .badUser), ("\u{301}a", .badUser),
            ("a\u{FFFD}", .badUser), ("a\u{0}", .badUser), ("a\u{E000}", .badUser), ("a\u{2028}b", .badUser),
            ("ann> I agree", .badUser), ("<ann", .badUser), ("<\u{338}", .badUser), ("ann, bob", .badUser),
            ("a  b", .badUser), ("a  \u{301}", .badUser), ("a\u{2800}b", .badUser), ("\u{2800}", .badUser),
            ("a\u{3164}b", .badUser), ("a\u{115F}", .badUser), ("a\u{1160}", .badUser), ("a\u{FFA0}", .badUser),
            ("a\u{34F}b", .badUser), ("a\u{17B4}", .badUser), ("a\u{1D159}", .badUser), ("a\u{16FE4}", .badUser),
            ("a\u{13441}", .badUser), (String(repeating: "x", count: 41), .tooLong),
            (String(repeating: "é", count: 21), .tooLong), (String(repeating: "x", count: 60_000), .tooLong),
        ] as [(String, RoomFault.Kind?)]
    )
    func users(name: String, fault: RoomFault.Kind?) {
        #expect(self.kind { () throws(RoomFault) in try RoomSubmission(user: name) } == fault)
    }

    @Test(
        "a message has no control characters and 1 to 1,000 bytes",
        arguments: [
            ("hi", nil), ("a  b", nil), (" hi ", nil), ("👩\u{200D}💻 ❤\u{FE0F}", nil), ("a\u{00A0}b", nil),
            (String(repeating: "x", count: 1_000), nil), ("", .badMessage), ("   ", .badMessage),
            ("\u{200D}", .badMessage), ("a\nb", .badMessage), ("a\tb", .badMessage), ("\u{1B}[2J", .badMessage),
            ("a\u{202E}b", .badMessage), ("a\u{7F}", .badMessage), ("a\u{85}b", .badMessage), ("a\u{0}", .badMessage),
            ("\u{2800}", .badMessage), ("\u{2800} \u{3164}", .badMessage), ("\u{115F}\u{1160}", .badMessage),
            ("\u{FFA0}", .badMessage), ("\u{34F}", .badMessage), ("\u{1D159}", .badMessage),
            ("\u{2801}\u{2800}", nil), ("a\u{3164}", nil), ("<a>, b", nil),
            (String(repeating: "x", count: 1_001), .tooLong), (String(repeating: "é", count: 501), .tooLong),
        ] as [(String, RoomFault.Kind?)]
    )
    func messages(text: String, fault: RoomFault.Kind?) {
        #expect(self.kind { () throws(RoomFault) in try RoomSubmission(message: text) } == fault)
    }

    @Test(
        "names that differ in case or composition are one",
        arguments: [
            ("ann", "ANN"), ("Straße", "STRASSE"), ("straẞe", "strasse"), ("Σίσυφος", "ΣΊΣΥΦΟΣ"), ("é", "e\u{301}"),
            ("É", "e\u{301}"), ("K", "\u{212A}"), ("Å", "\u{212B}"), ("ſ", "S"), ("Ǆ", "ǆ"),
        ]
    )
    func keys(one: String, other: String) { #expect(RoomUserName.key(of: one) == RoomUserName.key(of: other)) }

    @Test("other names are not one", arguments: [("ann", "anne"), ("a b", "ab"), ("é", "e"), ("а", "a")])
    func otherKeys(one: String, other: String) { #expect(RoomUserName.key(of: one) != RoomUserName.key(of: other)) }

    @Test(
        "a room's name is that of a symbol, with no blanks but spaces",
        arguments: [
            ("lobby", true), ("IC MARKETS:1", true), ("a  b", true), ("<é>", true), ("", false), (" a", false),
            ("a\u{2000}b", false), ("a\u{2002}b", false), ("a\u{A0}b", false), ("a\u{2800}", false),
            ("a\u{3164}", false), (String(repeating: "x", count: 65), false),
        ]
    )
    func rooms(name: String, isValid: Bool) {
        #expect(RoomName.isValid(name) == isValid && (RoomName.fault(in: name) == nil) == isValid)
    }

    @Test(
        "a submission is an object with message, user or both; the last of equal members counts",
        arguments: [
            (#"{"message":"hi","user":"ann"}"#, "hi", "ann", nil),
            (#" {"user" : "ann"} "#, nil, "ann", nil),
            (#"{"message":"a\"b","other":[1,{}],"user":null}"#, #"a"b"#, nil, nil),
            (#"{"message":"a","message":"b"}"#, "b", nil, nil),
            (#"{"message":"h\u0069"}"#, "hi", nil, nil),
            ("", nil, nil, .invalidMessage), ("hi", nil, nil, .invalidMessage), ("[]", nil, nil, .invalidMessage),
            ("{}", nil, nil, .invalidMessage), (#"{"message":"hi""#, nil, nil, .invalidMessage),
            (#"{"message":"hi"}x"#, nil, nil, .invalidMessage), (#"{"message":null}"#, nil, nil, .invalidMessage),
            (#"{"message":7}"#, nil, nil, .badMessage), (#"{"message":{}}"#, nil, nil, .badMessage),
            (#"{"message":true}"#, nil, nil, .badMessage), (#"{"message":"a\nb"}"#, nil, nil, .badMessage),
            (#"{"user":[]}"#, nil, nil, .badUser), (#"{"user":"\ud83d"}"#, nil, nil, .badUser),
        ] as [(String, String?, String?, RoomFault.Kind?)]
    )
    func json(text: String, message: String?, user: String?, fault: RoomFault.Kind?) {
        do throws(RoomFault) {
            let submission = try RoomSubmission(ByteBuffer(string: text))
            #expect(submission.text == message && submission.user?.text == user && fault == nil)
        } catch {
            #expect(error.kind == fault)
        }
    }
}
