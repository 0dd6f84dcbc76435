import Market
import NIOHTTP1
import Wire

/// The parts of an answer that may stand in a line for a person: short, printable, and without echoes of the request.
enum AnswerText {
    /// Returns the first line of a body. Of an HTML page it is only the title; of a refusal by our own relay it is the
    /// error and the remedy.
    static func line(of body: String) -> String {
        if let refusal = self.refusal(in: body) { return PrintableText.line(refusal, limit: 200) }
        let trimmed = body.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        guard trimmed.first == "<" else { return PrintableText.line(trimmed.prefix { !$0.isNewline }, limit: 120) }
        guard let title = Self.title(of: trimmed), !title.isEmpty else { return "a page of HTML" }
        return "a page of HTML, \"\(title)\""
    }

    /// Returns the scheme, host and port of a redirect, but never its path or query, which may repeat the key.
    static func redirection(_ headers: HTTPHeaders) -> String? {
        guard let location = headers.first(name: "Location"), let start = location.firstRange(of: "//") else {
            return nil
        }
        let scheme = location[..<start.lowerBound]
        guard scheme.isEmpty || ["http:", "https:", "ws:", "wss:"].contains(scheme.lowercased()) else { return nil }
        var host = location[start.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
        // A user name before the host must not reach a log.
        if let end = host.lastIndex(of: "@") { host = host[host.index(after: end)...] }
        let isHost = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                true
            default: "-._:[]".utf8.contains(byte)
            }
        }
        guard isHost, (1...253).contains(host.utf8.count) else { return nil }
        return "\(scheme)//\(host)"
    }

    /// Returns the number of an error of Cloudflare, the edge in front of Finnhub: 1000 to 1199.
    static func edgeError(in body: String) -> Int? {
        // The first marks the short text for programs, the second the page for people.
        for mark in ["error code: ", "cf-error-code\">"] {
            guard let range = body.firstRange(of: mark) else { continue }
            let digits = body[range.upperBound...].prefix { $0.isASCII && $0.isNumber }
            if digits.utf8.count == 4, let code = Int(digits), (1_000..<1_200).contains(code) { return code }
        }
        return nil
    }

    /// Returns the message and the remedy of a relay's refusal (docs/http.md).
    private static func refusal(in body: String) -> String? {
        var body = body
        return body.withUTF8 { bytes -> String? in
            var reader = JSONReader(UnsafeRawBufferPointer(bytes))
            var message: String?
            var hint: String?
            let isWhole = reader.object { key, reader in
                guard reader.kind() == .string, let value = reader.string() else { return false }
                if key.equals("message") { message = value.text }
                if key.equals("cure") { hint = value.text }
                return true
            }
            guard isWhole, let message, let hint else { return nil }
            return "\(message); \(hint)"
        }
    }

    private static func title(of page: Substring) -> String? {
        guard let opening = page.firstRange(of: "<title") ?? page.firstRange(of: "<TITLE"),
            let start = page[opening.upperBound...].firstIndex(of: ">")
        else { return nil }
        let text = page[page.index(after: start)...].prefix { $0 != "<" }
        return PrintableText.line(text.split { $0.isWhitespace }.joined(separator: " "), limit: 80)
    }
}
