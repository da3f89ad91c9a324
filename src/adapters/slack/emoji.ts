/** Slack's short names of the emoji that people and models use most; without variation signs and skin tones. Others are given by name. */

const TABLE = `
👍=thumbsup 👎=thumbsdown 👌=ok_hand ✌=v 🤞=crossed_fingers 🤝=handshake
👏=clap 🙌=raised_hands 🙏=pray 💪=muscle 👋=wave ✋=hand
🖐=raised_hand_with_fingers_splayed 👊=facepunch ✊=fist 👉=point_right 👈=point_left 👆=point_up_2
👇=point_down ☝=point_up 🤙=call_me_hand 🤘=the_horns 🫡=saluting_face 🫶=heart_hands
✍=writing_hand 👀=eyes 🧠=brain ✅=white_check_mark ☑=ballot_box_with_check ✔=heavy_check_mark
❌=x ✖=heavy_multiplication_x ❎=negative_squared_cross_mark ❓=question ❔=grey_question ❗=exclamation
❕=grey_exclamation ⁉=interrobang ‼=bangbang ⚠=warning 🚫=no_entry_sign ⛔=no_entry
🛑=octagonal_sign 💯=100 ➕=heavy_plus_sign ➖=heavy_minus_sign ➡=arrow_right ⬅=arrow_left
⬆=arrow_up ⬇=arrow_down 🔄=arrows_counterclockwise 🔁=repeat ℹ=information_source 🆗=ok
🆕=new 🆒=cool 🔴=red_circle 🟢=large_green_circle 🟡=large_yellow_circle 🔵=large_blue_circle
⚪=white_circle ⚫=black_circle ❤=heart 🧡=orange_heart 💛=yellow_heart 💚=green_heart
💙=blue_heart 💜=purple_heart 🖤=black_heart 🤍=white_heart 💔=broken_heart 💖=sparkling_heart
💕=two_hearts 💗=heartpulse 😀=grinning 😃=smiley 😄=smile 😁=grin
😆=laughing 😅=sweat_smile 🤣=rolling_on_the_floor_laughing 😂=joy 🙂=slightly_smiling_face 🙃=upside_down_face
😉=wink 😊=blush 😇=innocent 🥰=smiling_face_with_3_hearts 😍=heart_eyes 🤩=star-struck
😘=kissing_heart 😋=yum 😜=stuck_out_tongue_winking_eye 🤗=hugging_face 🤭=face_with_hand_over_mouth 🤫=shushing_face
🤔=thinking_face 🤐=zipper_mouth_face 😐=neutral_face 😑=expressionless 😶=no_mouth 😏=smirk
😒=unamused 🙄=face_with_rolling_eyes 😬=grimacing 😌=relieved 😔=pensive 😴=sleeping
😷=mask 🤒=face_with_thermometer 🥳=partying_face 😎=sunglasses 🤓=nerd_face 🧐=face_with_monocle
😕=confused 😟=worried 🙁=slightly_frowning_face 😮=open_mouth 😯=hushed 😲=astonished
😳=flushed 🥺=pleading_face 😨=fearful 😰=cold_sweat 😢=cry 😭=sob
😱=scream 😖=confounded 😞=disappointed 😓=sweat 😩=weary 😫=tired_face
🥱=yawning_face 😤=triumph 😡=rage 😠=angry 🤯=exploding_head 🤦=face_palm
🤷=shrug 💀=skull 💩=hankey 🤡=clown_face 👻=ghost 👽=alien
🤖=robot_face 🫠=melting_face 🎉=tada 🎊=confetti_ball 🎈=balloon 🎁=gift
🎂=birthday 🏆=trophy 🥇=first_place_medal 🏅=sports_medal ⭐=star 🌟=star2
✨=sparkles 💫=dizzy ⚡=zap 🔥=fire 💥=boom 🚀=rocket
🌈=rainbow ☀=sunny 🌙=crescent_moon ❄=snowflake ☕=coffee 🍕=pizza
🍺=beer 🍻=beers 🥂=clinking_glasses 🍪=cookie 🍎=apple 🌱=seedling
🌳=deciduous_tree 🌍=earth_africa 🐛=bug 🐞=ladybug 🐢=turtle 🐱=cat
🐶=dog 🦄=unicorn_face 🐙=octopus 🦆=duck 💡=bulb ⏳=hourglass_flowing_sand
⌛=hourglass ⏰=alarm_clock ⏱=stopwatch 📅=date 📆=calendar 📌=pushpin
📍=round_pushpin 📎=paperclip 📝=memo 📄=page_facing_up 📊=bar_chart 📈=chart_with_upwards_trend
📉=chart_with_downwards_trend 📁=file_folder 📂=open_file_folder 📚=books 📖=book 🔍=mag
🔎=mag_right 🔒=lock 🔓=unlock 🔑=key 🔔=bell 🔕=no_bell
📣=mega 📢=loudspeaker 💬=speech_balloon 💭=thought_balloon 📧=e-mail 📨=incoming_envelope
📬=mailbox_with_mail 📦=package 🛠=hammer_and_wrench 🔧=wrench 🔨=hammer ⚙=gear
🧪=test_tube 🔬=microscope 💻=computer 🖥=desktop_computer 📱=iphone ☎=phone
🎯=dart 🎨=art 🎵=musical_note 🎬=clapper 📷=camera 💰=moneybag
💵=dollar 💳=credit_card 🧹=broom 🗑=wastebasket 🚧=construction 🚨=rotating_light
🏁=checkered_flag 🚩=triangular_flag_on_post 🏠=house 🏢=office ✈=airplane 🚗=car
🧵=thread 🪄=magic_wand ♻=recycle ➰=curly_loop
`;

/** Emoji → short name without colons. */
export const EMOJI_NAMES: ReadonlyMap<string, string> = new Map(
  TABLE.trim()
    .split(/\s+/)
    .map((pair): [string, string] => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
);
