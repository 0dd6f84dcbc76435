import HTTPTypes
import Hummingbird
import NIOCore
import Page

/// One file of the page at `/` as an answer, out of memory.
///
/// Whatever the page shows comes from upstream texts, so its policy lets nothing run and nothing load but these files, and
/// nothing be reached but the relay that served them (Content Security Policy Level 3).
struct PageAnswer: Sendable {
    let path: String
    private let body: ByteBuffer
    private let tag: EntityTag
    private let contentType: String

    static let all = PageFiles.all.map(PageAnswer.init)
    static let paths = Set(PageFiles.all.map { Substring($0.path) })

    init(_ file: PageFile) {
        self.path = file.path
        self.body = ByteBuffer(bytes: file.bytes)
        self.tag = EntityTag(of: self.body)
        self.contentType = file.contentType
    }

    /// The file, or only its tag where the asker has the same already.
    func response(to request: Request) -> Response {
        // Asked anew each time: after an update of the program no part of the old page stays.
        var headers: HTTPFields = [.eTag: self.tag.text, .cacheControl: "no-cache"]
        for (name, value) in Self.protection(host: request.head.authority) { headers[name] = value }
        if let condition = request.headers[.ifNoneMatch], self.tag.isNamed(in: condition) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = self.contentType
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: self.body))
    }

    /// What the browser is told to refuse.
    ///
    /// - Parameter host: the request's `Host`, which has passed the gate, so that it is one of our names. Browsers differ
    ///   in whether `'self'` holds for WebSockets, so their addresses are spelt out.
    private static func protection(host: String?) -> [(HTTPField.Name, String)] {
        let sockets = host.map { " ws://\($0) wss://\($0)" } ?? ""
        let policy =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'\(sockets); "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
            + "trusted-types 'none'"
        return [
            (.contentSecurityPolicy, policy),
            (.xContentTypeOptions, "nosniff"),
            (.referrerPolicy, "no-referrer"),
            (.crossOriginOpenerPolicy, "same-origin"),
            (.crossOriginResourcePolicy, "same-origin"),
            (.permissionsPolicy, "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
        ]
    }
}

extension HTTPField.Name {
    // The names are tokens, so they are never nil.
    fileprivate static let referrerPolicy = Self("Referrer-Policy")!
    fileprivate static let crossOriginOpenerPolicy = Self("Cross-Origin-Opener-Policy")!
    fileprivate static let permissionsPolicy = Self("Permissions-Policy")!
}
