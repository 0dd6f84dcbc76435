/// Frames in every form that the service is known to send, and in some others.
enum FinnhubSeeds {
    static let frames: [String] = [
        // Crypto in the current form; ten trades in one frame; an integer price; a price update without a volume.
        #"{"data":[{"c":null,"p":75008.34,"s":"BINANCE:BTCUSDT","t":1776315883083,"v":0.00042}],"type":"trade"}"#,
        #"{"data":[{"c":null,"p":20461.12,"s":"BINANCE:BTCUSDT","t":1667198366116,"v":0.06164},{"c":null,"p":20461.12,"s":"BINANCE:BTCUSDT","t":1667198366116,"v":0.07517},{"c":null,"p":20461.11,"s":"BINANCE:BTCUSDT","t":1667198366116,"v":0.33782},{"c":null,"p":20461.3,"s":"BINANCE:ETHUSDT","t":1667198366130,"v":0.00446}],"type":"trade"}"#,
        #"{"data":[{"c":null,"p":26626,"s":"BINANCE:BTCUSDT","t":1687202120662,"v":0.04755}],"type":"trade"}"#,
        #"{"data":[{"c":null,"p":5.583,"s":"BINANCE:USDTBRL","t":1636631765675,"v":8060.2},{"c":null,"p":34727.99,"s":"BINANCE:BTCUSDT","t":1624945862327,"v":0.000004}],"type":"trade"}"#,
        #"{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0}],"type":"trade"}"#,
        #"{"data":[{"c":null,"p":12345678,"s":"AB\"DEFGHIJ","t":1680286537580,"v":12345678.12345678}],"type":"trade"}"#,
        #"{"data":[{"c":null,"p":9.5e-7,"s":"BINANCE:AVERYLONGSYMBOLNAMEHEREOFALL","t":1680286537580,"v":1e17}],"type":"trade"}"#,
        // Shares: conditions, identical fills, both kinds in one frame.
        #"{"data":[{"c":["1","12"],"p":164.0601,"s":"AAPL","t":1680286537580,"v":5},{"c":["1","8","12"],"p":164.06,"s":"AAPL","t":1680286538064,"v":4},{"c":["1","8","12"],"p":164.06,"s":"AAPL","t":1680286538064,"v":4}],"type":"trade"}"#,
        #"{"data":[{"c":["1","24","12"],"p":171.465,"s":"AAPL","t":1696250801554,"v":1},{"c":null,"p":1731.1,"s":"BINANCE:ETHUSDT","t":1696250801782,"v":0.014}],"type":"trade"}"#,
        // Without conditions, as in the documentation; keys in another order; spaces; escapes; unknown keys.
        #"{"data":[{"p":7296.89,"s":"BINANCE:BTCUSDT","t":1575526691134,"v":0.011467}],"type":"trade"}"#,
        #"{"type":"trade","data":[{"v":0.5,"t":1575526691134,"s":"BINANCE:BTCUSDT","p":7296.89,"c":[]}]}"#,
        #" { "data" : [ { "\u0070" : 1.50 , "s" : "\u0042TC\/\ud83d\ude00" , "t" : 1575526691134 , "v" : 2 } ] , "type" : "trade" } "#,
        #"{"seq":[1,{"a":[true,false,null]}],"data":[{"p":1,"s":"A","t":1,"v":1,"x":{"y":[]}},null,7,{"p":"1"}],"type":"trade"}"#,
        // No trades.
        #"{"type":"ping"}"#, #"{"msg":"Subscribing to too many symbols","type":"error"}"#,
        #"{"msg":"Invalid symbol OANDA:EUR_USD","type":"error"}"#, #"{"data":null,"type":"trade"}"#,
        #"{"data":[{"category":"crypto","id":1}],"type":"news"}"#, #"{"type":"message"}"#,
        #"{"dta":[],"type":"trade"}"#,
        #""data":[{"c":null,"p":222457,"s":"BINANCE:BTCBRL","t":1610205469610,"v":0.07274}],"type":"trade"}"#,
    ]
}
